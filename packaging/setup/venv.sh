#!/bin/sh
# Make .venv with everything that the program, its tests and its tools need.
#
# Does nothing when the environment was made from the same pyproject.toml and constraints.txt.
# PURA_REQUIRE_HASHES=1 takes only files whose digests stand in hashes.txt, all but torch and what it
# brings for itself: on Linux on x86-64 with Python 3.11, where the index offers the same wheels.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$root"

# A linked environment is another checkout's: used as it is, never changed.
if [ -L .venv ]; then
    exit 0
fi
python=$("$here/python.sh")
stamp=".venv/installed"
# The folder counts too: the scripts of an environment that was moved start another one's Python.
# The cluster's engine is for those who have a cluster, and for the continuous integration.
extras="gui,dev,batch,lab,serve,provenance,notebook${PURA_EXTRAS:+,$PURA_EXTRAS}"
want="$(cat pyproject.toml constraints.txt | cksum) $extras $root"
if [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$want" ]; then
    exit 0
fi
last=$(cut -d' ' -f4- "$stamp" 2>/dev/null || true)
if [ "${last:-$root}" != "$root" ] || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    "$python" -m venv --clear .venv
fi
echo "Installing into .venv (about 1.9 GB; half a minute with uv, a few with pip)"
export PIP_DISABLE_PIP_VERSION_CHECK=1

. "$here/uv.sh"

# Several wheels of one pin may fit: both take only what constraints.txt and hashes.txt name.
all() {
    if [ -n "${PURA_REQUIRE_HASHES:-}" ]; then
        "$@" --no-deps --require-hashes -r "$here/hashes.txt" || return
    fi
    "$@" -c constraints.txt -e ".[$extras]"
}

with_pip() {
    .venv/bin/python -m pip install --quiet --retries 5 "$@"
}

if [ -n "${PURA_NO_UV:-}" ] || ! with_pip -c constraints.txt uv || ! all with_uv .venv/bin/python; then
    [ -n "${PURA_NO_UV:-}" ] || echo "uv is not to be had here or failed: pip installs, which takes longer."
    all with_pip
fi
echo "$want" > "$stamp"
