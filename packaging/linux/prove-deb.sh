#!/usr/bin/env bash
# Prove a .deb in a bare Debian: what it declares is all that it needs.
#
#     packaging/linux/prove-deb.sh [--suite NAME] [--before OLD.deb] [FILE]
#
# Installs, audits, upgrades, starts the detector as its unit does, removes and purges. --before is
# the package of the version before, which then writes case, key, model, profile and the detector's
# token; without it the upgrade is to the same files under a higher number. Takes root, on Debian or
# Ubuntu, with debootstrap; works in a folder that is deleted.
set -euo pipefail
shopt -s inherit_errexit # what is kept is asked in $( ), and each question has to find something
suite=bookworm before=
while :; do
    case ${1:-} in
        --suite) suite=$2; shift 2 ;;
        --before) before=$2; shift 2 ;;
        *) break ;;
    esac
done
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
mount -t proc proc "$root/proc" # the sandbox asks it how much memory is mapped
if [ -n "$before" ]; then
    cp "$before" "$root/tmp/first.deb"
    cp "$deb" "$root/tmp/second.deb"
else
    step "the same files under the next version"
    cp "$deb" "$root/tmp/first.deb"
    next=$root/next
    dpkg-deb -R "$deb" "$next"
    sed -i "s/^Version: .*/Version: $(dpkg-deb -f "$deb" Version).1/" "$next/DEBIAN/control"
    dpkg-deb --root-owner-group -Znone --build "$next" "$root/tmp/second.deb" >/dev/null
    rm -rf "$next"
fi
version() { inside dpkg-query -W -f='${Version}' pura-audit; }

step "install $(dpkg-deb -f "$root/tmp/first.deb" Version)"
inside apt-get update -qq
inside apt-get install -y -qq --no-install-recommends /tmp/first.deb >/dev/null
at=/home/auditor/proof
as_user pura -m pura_audit.tools.packaged_check prove "$at"
echo "a passphrase for the proof" > "$root$at/passphrase"
mine=(env "PURA_HOME=$at/home" "PURA_PASSPHRASE_FILE=$at/passphrase" pura)
as_user "${mine[@]}" key new proof --in-file
as_user "${mine[@]}" profile import "$at/sample/profile.json" --name house
state=/var/lib/pura-serve
serving=(env "PURA_HOME=$state" pura)
inside install -d -m 700 -o auditor "$state" /run/credentials
as_user "${serving[@]}" model install
token=$(as_user "${serving[@]}" serve token new Proof --role trusted | grep -oE '[A-Za-z0-9_-]{40,}' | tail -n 1)
# Neither the words nor the columns of a list are promised from one version to the next.
kept() {
    as_user "${mine[@]}" key list | grep -oE '\b[0-9a-f]{16}\b' | sort -u
    as_user "${mine[@]}" caselog show Proof | grep -oE '\b[0-9a-f]{16,64}\b' | sort -u
    as_user "${mine[@]}" profile show house 2>&1 >/dev/null | grep -oE '\b[0-9a-f]{16,64}\b'
    as_user "${serving[@]}" serve token list | grep -oE '\b[0-9a-f]{12}\b'
}

step "upgrade to $(dpkg-deb -f "$root/tmp/second.deb" Version): cases, keys, models, profiles and tokens stay"
had=$(kept)
inside apt-get install -y -qq --no-install-recommends /tmp/second.deb >/dev/null
[ "$(version)" = "$(dpkg-deb -f "$root/tmp/second.deb" Version)" ]
[ "$(kept)" = "$had" ] || { printf 'Before:\n%s\nAfter:\n%s\n' "$had" "$(kept)" >&2; exit 1; }
as_user "${mine[@]}" caselog verify
as_user "${mine[@]}" verify "$at/sample/text.txt" --profile house --key-file "$at/sample/key.txt" \
    --save Proof --auditor Prover
as_user "${mine[@]}" caselog verify

step "the detector, as its unit starts it, asked with the token made before the upgrade"
unit=$root/usr/lib/systemd/system/pura-serve.service
install -m 400 "$root$at/sample/key.txt" "$root/run/credentials/key"
chown "$(stat -c %u "$root$at")" "$root/run/credentials/key"
cp "$root$at/sample/profile.json" "$root/etc/pura-serve.json"
start=$(sed -n 's/^ExecStart=//p' "$unit")
# What a chroot can hold of the unit: nobody's rights, a read-only system but for the state and a
# /tmp of its own, a network of its own with loopback only.
unshare --mount --net --kill-child bash -eu -s "$root" "$state" "$start" "$token" <<'RULES'
root=$1 state=$2 start=$3 token=$4
ip link set lo up 2>/dev/null || ifconfig lo up
mount --rbind "$root" "$root" && mount -o remount,bind,ro "$root" # /proc comes along
mount --bind "$root$state" "$root$state" && mount -o remount,bind,rw "$root$state"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
serve() {
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        PURA_HOME="$state" CREDENTIALS_DIRECTORY=/run/credentials OMP_WAIT_POLICY=PASSIVE \
        PURA_SERVE="--profile /etc/pura-serve.json --anyone --name Proof --contact proof@example.org" \
        setpriv --reuid auditor --regid auditor --clear-groups --no-new-privs --bounding-set=-all \
        sh -c "exec $start"
}
serve &
pid=$!
trap 'kill $pid 2>/dev/null || true' EXIT
ask() { # FILE PATH …: the answer into FILE, its code on the output
    curl -sS --max-time 120 -o "$1" -w '%{http_code}' -H "Authorization: Bearer $token" \
        "http://127.0.0.1:8080$2" "${@:3}"
}
answer=$(mktemp)
for _ in $(seq 240); do
    kill -0 $pid
    [ "$(ask "$answer" /readyz 2>/dev/null || true)" != 200 ] || break
    sleep 0.5
done
ask "$answer" /v1/checks -F "file=@$root/home/auditor/proof/sample/text.txt" >/dev/null
id=$(sed -n 's/.*"id": *"\([^"]*\)".*/\1/p' "$answer")
for _ in $(seq 240); do
    ! grep -q '"verdict"' "$answer" || break
    sleep 0.5
    ask "$answer" "/v1/checks/$id" >/dev/null
done
head -c 400 "$answer"; echo
grep -qE '"verdict": *"mark"' "$answer"
find "$root/tmp" -mindepth 1 | head
if grep -rqF "$(head -c 60 "$root/home/auditor/proof/sample/text.txt")" "$root/tmp" "$root$state"; then
    echo "The text that was asked about stands on the disk." >&2
    exit 1
fi
kill -TERM $pid
wait $pid
rm "$answer"
RULES

step "remove and purge"
inside apt-get purge -y -qq pura-audit >/dev/null
[ ! -e "$root/usr/lib/pura-audit" ]
[ ! -e "$root/usr/bin/pura" ]
[ ! -e "$unit" ]
[ -n "$(find "$root$at/home" -name '*.sqlite*' | head -n 1)" ]
echo "All held."
