#!/bin/sh
# Bring the catalogues of the window up to date: collect every translate("Context", "text") of the
# window, keep what is translated, drop what is gone, compile. New texts stay empty in the .ts file
# until somebody translates them; tests/app/platform/test_translation.py names them.
set -eu
cd "$(dirname "$0")/../.."
bin=${BIN:-.venv/bin}
for catalogue in resources/languages/*/window.ts; do
  # The names of the files come first: lupdate tells Python from other languages by them.
  # shellcheck disable=SC2046
  "$bin/pyside6-lupdate" $(find app/pura_audit -name '*.py' | LC_ALL=C sort) \
    -locations none -no-obsolete -ts "$catalogue"
  "$bin/pyside6-lrelease" "$catalogue" -qm "${catalogue%.ts}.qm"
done
