#!/usr/bin/env bash
# Prove a .deb in a bare Debian: what it declares is all that it needs.
#
#     packaging/linux/prove-deb.sh [--suite NAME] [FILE]
#
# Installs, audits, upgrades to a next version (the same files under a higher number), removes and
# purges. Takes root, on Debian or Ubuntu, with debootstrap; works in a folder that is deleted.
set -euo pipefail
suite=bookworm
if [ "${1:-}" = --suite ]; then suite=$2; shift 2; fi
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
deb=${1:-$(ls -t "$tree"/dist/packages/pura-audit_*.deb | head -n 1)}
[ "$(id -u)" = 0 ] || { echo "This takes root: debootstrap and chroot need it." >&2; exit 1; }
root=$(mktemp -d "${TMPDIR:-/var/tmp}/pura-deb.XXXXXX")
trap 'umount -l "$root/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
chmod 755 "$root" # it is the / of a user inside

mirror() {
    cat /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list.d/ubuntu.sources \
        /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
        sed -n -E 's#^(URIs:|deb( \[[^]]*\])?) *(https?://[^ ]+).*#\3#p' | head -n 1
}
step() { printf '\n== %s\n' "$1"; }
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    HOME=/home/auditor DEBIAN_FRONTEND=noninteractive "$@"; }
as_user() { inside setpriv --reuid auditor --regid auditor --clear-groups \
    env QT_QPA_PLATFORM=offscreen OMP_WAIT_POLICY=PASSIVE "$@"; }

step "a bare Debian ($suite)"
debootstrap --variant=minbase "$suite" "$root" "$(mirror)" >/dev/null
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
# What this machine needs to reach its mirror holds inside as well.
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
inside useradd --create-home auditor
mount -t proc proc "$root/proc" # the cage asks it how much memory is mapped
cp "$deb" "$root/tmp/first.deb"

step "the same files under the next version"
next=$root/next
dpkg-deb -R "$deb" "$next"
version=$(dpkg-deb -f "$deb" Version)
sed -i "s/^Version: .*/Version: $version.1/" "$next/DEBIAN/control"
dpkg-deb --root-owner-group -Znone --build "$next" "$root/tmp/second.deb" >/dev/null
rm -rf "$next"

step "install"
inside apt-get update -qq
inside apt-get install -y -qq --no-install-recommends /tmp/first.deb >/dev/null
at=/home/auditor/proof
as_user pura -m pura_audit.tools.packaged_check prove "$at"
mine=(env "PURA_HOME=$at/home" pura)

step "upgrade: cases, models and profiles stay"
before=$(as_user "${mine[@]}" caselog show Proof)
inside apt-get install -y -qq --no-install-recommends /tmp/second.deb >/dev/null
[ "$(inside dpkg-query -W -f='${Version}' pura-audit)" = "$version.1" ]
[ "$(as_user "${mine[@]}" caselog show Proof)" = "$before" ]
as_user "${mine[@]}" caselog verify
as_user "${mine[@]}" verify "$at/sample/text.txt" --key-file "$at/sample/key.txt" \
    --profile "$at/sample/profile.json"

step "remove and purge"
inside apt-get purge -y -qq pura-audit >/dev/null
[ ! -e "$root/usr/lib/pura-audit" ]
[ ! -e "$root/usr/bin/pura" ]
[ -n "$(find "$root$at/home" -name '*.sqlite*' | head -n 1)" ]
echo "All held."
