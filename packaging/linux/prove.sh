#!/bin/sh
# Prove a built application: no Python of the machine, an empty home, no network address.
#
#     packaging/linux/prove.sh [FOLDER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
app=$(cd "${1:-$root/dist/linux/pura-audit}" && pwd)
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
prefix=$home/prefix

# Nothing of this machine's environment, so that nothing of it can lend a hand.
clean() {
    env -i HOME="$home" PATH=/usr/bin:/bin LANG=C.UTF-8 QT_QPA_PLATFORM=offscreen \
        OMP_WAIT_POLICY=PASSIVE OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" "$@"
}
step() { printf '\n== %s\n' "$1"; }

step "install.sh into an empty place"
clean "$app/install.sh" --prefix "$prefix"

step "what it shows of itself"
clean "$prefix/bin/pura" -m pura_audit.tools.packaged_check prove "$home/proof"
[ -z "${PICTURE:-}" ] || cp "$home/proof/window.png" "$PICTURE"

step "removal"
clean "$app/install.sh" --prefix "$prefix" --remove
[ ! -e "$prefix/bin/pura" ]
echo "All held."
