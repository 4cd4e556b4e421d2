#!/bin/sh
# Make the environment of the tools of others, .tools: what tests/data/tools.json pins of PyPI and
# npm, and Debian's packages where this is root; bench/held_out.py puts texts through them.
set -eu
cd "$(dirname "$0")/../.."
. packaging/setup/uv.sh

pins() {
    .venv/bin/python bench/held_out.py --packages "$1"
}

if [ "$(id -u)" = 0 ]; then
    apt-get update -q
    # shellcheck disable=SC2046
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends nodejs npm $(pins debian)
fi
[ -x .tools/bin/python3 ] || .venv/bin/uv venv --quiet --python "$(readlink -f .venv/bin/python)" .tools
# shellcheck disable=SC2046
with_uv .tools/bin/python $(pins pypi)
# shellcheck disable=SC2046
npm install --prefix .tools --no-audit --no-fund --loglevel=error $(pins npm)
