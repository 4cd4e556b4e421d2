#!/bin/sh
# Make packages of the built application (dist/linux/pura-audit) in dist/packages.
#
#     packaging/linux/packages.sh [--slim] [deb|rpm|archive]…
#
# Without a name: deb, rpm and archive, those whose tool is there. --slim leaves the built-in model
# out; its users add one of their own or fetch it by “pura model install”. SHA256SUMS lists them all.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$root"
app=dist/linux/pura-audit
out=dist/packages
slim="" kinds=""
for word in "$@"; do
    case $word in
        --slim) slim=-slim ;;
        deb | rpm | archive) kinds="$kinds $word" ;;
        *) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
done
[ -x "$app/pura" ] || { echo "Nothing is built yet: make package" >&2; exit 1; }
version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' core/pura/version.py)
machine=$(uname -m)
name=pura-audit$slim
# Files keep the time of the last change of the tree, so that a package made twice is the same.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
work=$root/build/packages
mkdir -p "$out" "$work"

# The tree below / that deb and rpm install: what install.sh makes below a prefix.
stage() {
    tree=$work/$name-$1
    rm -rf "$tree"
    mkdir -p "$tree/usr/bin" "$tree/usr/lib"
    cp -al "$app" "$tree/usr/lib/pura-audit"
    rm -rf "$tree/usr/lib/pura-audit/share" "$tree/usr/lib/pura-audit/install.sh"
    cp -a "$app/share" "$tree/usr/share"
    without_model "$tree/usr/lib/pura-audit"
    ln -s ../lib/pura-audit/pura ../lib/pura-audit/pura-audit "$tree/usr/bin/"
    install -D -m 644 "$here/serve/pura-serve.service" -t "$tree/usr/lib/systemd/system"
    gzip -9n "$tree"/usr/share/man/man1/* "$tree"/usr/share/man/de/man1/*
    find "$tree" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
    echo "$tree"
}

without_model() {
    [ -z "$slim" ] || find "$1" -path '*_resources/wheels/*.whl' -delete
}

# The newest version of the C library that any file asks for.
libc() {
    find "$1" -type f \( -name '*.so*' -o -perm -100 \) -exec objdump -T {} + 2>/dev/null |
        sed -n 's/.*(\{0,1\}GLIBC_\(2\.[0-9]*\)).*/\1/p' | sort -uV | tail -n 1
}

# What the files of a tree hold, by the file, as dpkg counts it: what they take of a disk differs.
kibibytes() {
    find "$1" -path "$1/DEBIAN" -prune -o -type f -printf '%s\n' -o -printf '1\n' |
        awk '{ sum += int(($1 + 1023) / 1024) } END { print sum }'
}

make_deb() {
    tree=$(stage deb)
    mkdir -p "$tree/DEBIAN" "$tree/usr/share/doc/$name"
    [ "$name" = pura-audit ] || mv "$tree/usr/share/doc/pura-audit"/* "$tree/usr/share/doc/$name/"
    gzip -9n "$tree/usr/share/doc/$name/CHANGELOG.md"
    mv "$tree/usr/share/zsh/site-functions" "$tree/usr/share/zsh/vendor-completions"
    mv "$tree/usr/share/doc/$name/LICENSE" "$tree/usr/share/doc/$name/copyright"
    needs=$("$root/packaging/setup/system.sh" --runtime | sed 's/|/ | /g' | paste -sd, | sed 's/,/, /g')
    other=pura-audit-slim
    [ -z "$slim" ] || other=pura-audit
    cat > "$tree/DEBIAN/control" <<CONTROL
Package: $name
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: The PURA Audit developers <developers@puraaudit.invalid>
Installed-Size: $(kibibytes "$tree")
Depends: libc6 (>= $(libc "$tree")), $needs
Recommends: gnome-keyring | kwalletmanager
Conflicts: $other
Replaces: $other
Section: text
Priority: optional
Description: read and defend the PURA watermark of a text
 Did one of our language models write this text, for whom, and when? The
 window and the command read the mark, say how strong the evidence is, and
 write reports that can be checked. Everything runs on this computer.
CONTROL
    file=$out/${name}_${version}_$(dpkg --print-architecture).deb
    # Every system that has the C library above can unpack it; xz takes four times as long.
    dpkg-deb --root-owner-group -Zzstd -z9 --build "$tree" "$file" >/dev/null
    echo "$file"
}

make_rpm() {
    tree=$(stage rpm)
    # Libraries inside are no business of the system's; what Qt takes from it is named.
    rpmbuild -bb --quiet --define "_topdir $work/rpm" --define "_rpmdir $root/$out" \
        --define "tree $tree" --define "name_ $name" --define "version_ $version" \
        --define "libc_ $(libc "$tree")" \
        --define "_rpmfilename %{NAME}-%{VERSION}.%{ARCH}.rpm" \
        --define "use_source_date_epoch_as_buildtime 1" \
        --define "clamp_mtime_to_source_date_epoch 1" --define "_buildhost reproducible" \
        --define "_binary_payload w9.zstdio" \
        "$here/pura-audit.rpm.spec"
    echo "$out/$name-$version.$machine.rpm"
}

# One file for any distribution: a few lines of shell, then the folder.
make_archive() {
    tree=$work/$name-archive
    rm -rf "$tree"
    mkdir -p "$tree"
    cp -al "$app" "$tree/pura-audit"
    without_model "$tree/pura-audit"
    file=$out/$name-$version-linux-$machine.run
    cp "$here/unpack.sh" "$file"
    tar -C "$tree" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
        -cf - pura-audit | gzip -6n >> "$file"
    chmod 755 "$file"
    echo "$file"
}

if [ -z "$kinds" ]; then
    kinds=archive
    ! command -v dpkg-deb >/dev/null || kinds="deb $kinds"
    ! command -v rpmbuild >/dev/null || kinds="rpm $kinds"
fi
for kind in $kinds; do
    file=$("make_$kind" | tail -n 1)
    du -h "$file"
done
(cd "$out" && find . -type f ! -name 'SHA256SUMS*' | sort | sed 's#^\./##' |
    xargs sha256sum > SHA256SUMS)
