#!/bin/sh
# Make .venv with everything that the program, its tests and its tools need.
#
# Does nothing when the environment was made from the same pyproject.toml and constraints.txt.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$root"

python=$("$here/python.sh")
stamp=".venv/installed"
want=$(cat pyproject.toml constraints.txt | cksum)
if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$want" ]; then
    exit 0
fi
[ -x .venv/bin/python ] || "$python" -m venv .venv
echo "Installing into .venv (about 1.7 GB; a few minutes)"
export PIP_DISABLE_PIP_VERSION_CHECK=1
.venv/bin/python -m pip install --quiet --retries 5 -c constraints.txt -e ".[gui,dev]"
echo "$want" > "$stamp"
