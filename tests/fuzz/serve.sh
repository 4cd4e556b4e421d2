#!/bin/sh
# Ask the detector what its own description allows and forbids (OpenAPI), a minute or two.
#
# Schemathesis (MIT) comes into an environment of its own below build/; it asks this machine only.
set -eu
cd "$(dirname "$0")/../.."
version=4.32.5
place=build/fuzz/schemathesis
if [ "$(cat "$place/made" 2>/dev/null)" != "$version" ]; then
    .venv/bin/python -m venv --clear "$place"
    "$place/bin/python" -m pip install --quiet "schemathesis==$version"
    echo "$version" > "$place/made"
fi
exec .venv/bin/python tests/fuzz/serve.py "$place/bin/schemathesis"
