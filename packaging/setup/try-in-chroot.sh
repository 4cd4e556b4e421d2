#!/usr/bin/env bash
# Run a command in a fresh clone of the last commit, inside a bare Debian made by debootstrap.
#
#     packaging/setup/try-in-chroot.sh [--suite NAME] [--root DIR] [--user] [--keep] [COMMAND…]
#
# COMMAND defaults to .ci/run. --user runs it as a user without sudo. --keep goes on with the clone
# of the last call instead of a fresh one. It takes root, on Debian or Ubuntu, with debootstrap
# installed. Mirror, certificates and pip's configuration are those of this machine. Mounts are made
# in a namespace of their own and are gone when the script ends; the folder stays, for a look.
set -euo pipefail

suite=bookworm root="" user=root keep=no
while [ $# -gt 0 ]; do
    case "$1" in
        --suite) suite=$2; shift 2 ;;
        --root) root=$2; shift 2 ;;
        --user) user=auditor; shift ;;
        --keep) keep=yes; shift ;;
        -*) sed -n '2,10s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
        *) break ;;
    esac
done
[ $# -gt 0 ] || set -- .ci/run
root=${root:-/var/tmp/pura-$suite}
tree=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
[ "$(id -u)" = 0 ] || { echo "This takes root: debootstrap and chroot need it." >&2; exit 1; }
command -v debootstrap >/dev/null || { echo "First: apt-get install debootstrap" >&2; exit 1; }

# The first http(s) address in the machine's own apt sources, in the old or the new format.
mirror() {
    cat /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list.d/ubuntu.sources \
        /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
        sed -n -E 's#^(URIs:|deb( \[[^]]*\])?) *(https?://[^ ]+).*#\3#p' | head -n 1
}

if [ ! -e "$root/made" ]; then
    debootstrap --variant=minbase "$suite" "$root" "$(mirror)"
    touch "$root/made"
fi
# What this machine needs to reach its registries holds inside as well.
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
[ ! -e /etc/pip.conf ] || install -m 644 /etc/pip.conf "$root/etc/pip.conf"
# Under a name of its own: the package ca-certificates writes its own bundle when it is installed.
bundle=/etc/ssl/machine-ca.crt
install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$root$bundle"
if [ "$user" != root ] && ! grep -q "^$user:" "$root/etc/passwd"; then
    chroot "$root" useradd --create-home --shell /bin/bash "$user"
fi
home=$(chroot "$root" sh -c "echo ~$user")
clone=$home/clone
if [ "$keep" = no ]; then
    rm -rf "${root:?}$clone"
    git clone --quiet --no-hardlinks "$tree" "$root$clone"
    # The clone belongs to whoever works in it.
    [ "$user" = root ] || chroot "$root" chown -R "$user:" "$clone"
fi

pass=("SSL_CERT_FILE=$bundle" "PIP_CERT=$bundle" "REQUESTS_CA_BUNDLE=$bundle")
while IFS= read -r name; do
    pass+=("$name=${!name}")
done < <(compgen -e | grep -E '^PIP_|^(https?|no)_proxy$' | grep -v '^PIP_CERT$' || true)
# Local folders that pip's configuration points at (wheels, an index) are shown inside, read-only.
folders=$(python3 -m pip config list 2>/dev/null | grep -o '/[A-Za-z0-9._/-]*' | sed 's#^//*#/#' |
    while read -r path; do [ -d "$path" ] && echo "$path"; done | sort -u || true)

export root clone user home folders
# shellcheck disable=SC2016 # expanded by the inner shell
# A process namespace as well: when the script is stopped, so is all that it started.
exec unshare --mount --propagation private --pid --fork --kill-child bash -c '
    set -euo pipefail
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    for folder in $folders; do
        mkdir -p "$root$folder"
        mount --bind -o ro "$folder" "$root$folder"
    done
    count=$1; shift
    pass=("${@:1:count}"); shift "$count"
    exec chroot --userspec="$user" "$root" env -i HOME="$home" USER="$user" LANG=C.UTF-8 CI=true \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${pass[@]}" \
        bash -c "cd \"$clone\" && exec \"\$@\"" run "$@" </dev/null
' inner "${#pass[@]}" "${pass[@]}" "$@"
