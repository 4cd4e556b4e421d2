#!/bin/sh
# Print the first Python >= 3.11 that can make virtual environments; exit 1 when there is none.
for name in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
    [ -n "$name" ] || continue
    path=$(command -v "$name" 2>/dev/null) || continue
    if "$path" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        echo "$path"
        exit 0
    fi
done
echo "No Python 3.11 or newer with venv was found." >&2
echo "On Debian or Ubuntu: apt-get install python3 python3-venv" >&2
exit 1
