#!/bin/sh
# The pages of docs/ and those made from the program as a site in build/site/html. Sphinx lies beside .venv's packages for this run
# only; a warning is an error.
set -eu
cd "$(dirname "$0")/../.."
wanted="sphinx==9.0.4 myst-parser==5.2.0 furo==2025.12.19"
parts=build/site/parts
if [ "$(cat "$parts/made" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$parts"
    # Word splitting is meant: each is a requirement.
    # shellcheck disable=SC2086
    .venv/bin/python -m pip install --quiet --target "$parts" -c constraints.txt $wanted
    echo "$wanted" > "$parts/made"
fi
pages=build/site/pages
rm -rf "$pages"
cp -r docs "$pages"
PYTHONPATH="core:app" .venv/bin/python packaging/site/reference.py "$pages"
PYTHONPATH="core:$parts" .venv/bin/python -m sphinx -q -W --keep-going -b html -c docs \
    "$pages" build/site/html
echo "build/site/html/index.html"
