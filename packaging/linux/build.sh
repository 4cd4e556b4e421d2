#!/bin/sh
# Build the one-folder application into dist/linux/pura-audit and prove that it works.
#
#     packaging/linux/build.sh [--no-proof]
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
# What would end the build after minutes is asked first.
python=$("$root/packaging/setup/python.sh" --shared)
command -v objdump >/dev/null || {
    echo "The program objdump is missing. On Debian or Ubuntu: apt-get install binutils" >&2
    exit 1
}
exec "$python" "$root/packaging/build.py" "$@"
