#!/bin/sh
# Fuzz what reads strangers' bytes, guided by the lines that inputs reach.
#
#     tests/fuzz/run.sh [--seconds N] [--only TARGET…]
#
# Atheris (Apache-2.0, for Linux on x86-64 and ARM) comes into a folder of its own below build/.
set -eu
cd "$(dirname "$0")/../.."
version=3.0.0
place=build/fuzz/parts
if [ "$(cat "$place/made" 2>/dev/null)" != "$version" ]; then
    rm -rf "$place"
    .venv/bin/python -m pip install --quiet --no-deps --target "$place" "atheris==$version"
    echo "$version" > "$place/made"
fi
PYTHONPATH="$place${PYTHONPATH:+:$PYTHONPATH}" exec .venv/bin/python tests/fuzz/run.py "$@"
