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
pura=$prefix/bin/pura
window=$prefix/bin/pura-audit

step "--version"
clean "$pura" --version
clean "$window" --version

step "keyring backends"
clean "$pura" -m pura_audit.tools.packaged_check keyrings

step "the built-in model, from inside the package"
clean "$pura" model install

step "selftest"
clean "$pura" selftest

step "audit of a sample, by the command"
clean "$pura" -m pura_audit.tools.packaged_check sample "$home/sample"
clean "$pura" verify "$home/sample/text.txt" --key-file "$home/sample/key.txt" \
    --profile "$home/sample/profile.json"

step "a case, a report of it, and both checked"
clean "$pura" verify "$home/sample/text.txt" --key-file "$home/sample/key.txt" \
    --profile "$home/sample/profile.json" --save Proof --auditor Prover \
    --pdf "$home/report.pdf" >/dev/null
status=0
clean "$pura" report verify "$home/report.pdf" || status=$?
[ "$status" = 3 ] # everything holds, and nobody signed it
clean "$pura" caselog show Proof
clean "$pura" caselog verify

step "audit of a sample, by the window (offscreen)"
clean "$window" -m pura_audit.tools.packaged_check window "$home/window.png"
[ -z "${PICTURE:-}" ] || cp "$home/window.png" "$PICTURE"

step "removal"
clean "$app/install.sh" --prefix "$prefix" --remove
[ ! -e "$prefix/bin/pura" ]
echo "All held."
