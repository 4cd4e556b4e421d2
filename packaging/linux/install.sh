#!/bin/sh
# Install this folder for the current user (or, as root, for everybody), or take it away again.
#
#     ./install.sh [--prefix DIR]     default: ~/.local, as root /usr/local
#     ./install.sh --remove
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ "$(id -u)" = 0 ]; then prefix=/usr/local place=/usr/local/lib/pura-audit
else prefix=$HOME/.local place=$HOME/.local/lib/pura-audit; fi
remove=no
while [ $# -gt 0 ]; do
    case "$1" in
        --prefix) prefix=$2 place=$2/lib/pura-audit; shift 2 ;;
        --remove) remove=yes; shift ;;
        *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
done

# What stands below share/ of this folder goes below share/ of the prefix, file by file.
shared() { (cd "$1/share" && find . -type f | sed 's#^\./##'); }

if [ "$remove" = yes ]; then
    [ ! -d "$place/share" ] || shared "$place" | while IFS= read -r file; do
        rm -f "$prefix/share/$file"
    done
    rm -f "$prefix/bin/pura-audit" "$prefix/bin/pura"
    rm -rf "$place"
    echo "Removed. Keys, models, settings and the case log were left where they are."
    exit 0
fi

mkdir -p "$place.new" "$prefix/bin"
cp -a "$here/." "$place.new/"
rm -rf "$place"
mv "$place.new" "$place"
ln -sf "$place/pura-audit" "$place/pura" "$prefix/bin/"
shared "$place" | while IFS= read -r file; do
    mkdir -p "$prefix/share/$(dirname "$file")"
    cp "$place/share/$file" "$prefix/share/$file"
done
desktop=$prefix/share/applications
sed "s#^Exec=pura-audit#Exec=\"$place/pura-audit\"#" "$place/share/applications/pura-audit.desktop" \
    > "$desktop/pura-audit.desktop"
if command -v update-desktop-database >/dev/null 2>&1; then
    update-desktop-database "$desktop" || true
fi
echo "Installed in $place. Start it with “pura-audit”, or from the menu."
