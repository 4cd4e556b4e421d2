#!/bin/sh
# PURA Audit in one file.
#
#     sh FILE                   install for this user (as root: for everybody)
#     sh FILE --prefix DIR      install below DIR
#     sh FILE --extract DIR     only unpack
#     sh FILE --remove          take it away again
set -eu
if [ "${1:-}" = --extract ]; then
    [ $# = 2 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
    place=$2
    mkdir -p "$place"
else
    place=$(mktemp -d)
    trap 'rm -rf "$place"' EXIT
fi
sed '1,/^# Here the folder begins\.$/d' "$0" | gzip -dc | tar -C "$place" -xf -
[ "${1:-}" = --extract ] || "$place/pura-audit/install.sh" "$@"
exit 0
# Here the folder begins.
