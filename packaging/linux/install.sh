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

desktop=$prefix/share/applications/pura-audit.desktop
icon=$prefix/share/icons/hicolor/scalable/apps/pura-audit.svg
if [ "$remove" = yes ]; then
    rm -f "$prefix/bin/pura-audit" "$prefix/bin/pura" "$desktop" "$icon"
    rm -f "$prefix"/share/man/man1/pura.1 "$prefix"/share/man/man1/pura-*.1 \
        "$prefix"/share/man/de/man1/pura.1 "$prefix"/share/man/de/man1/pura-*.1
    rm -rf "$place"
    echo "Removed. Keys, models, settings and the case log were left where they are."
    exit 0
fi

mkdir -p "$place.new" "$prefix/bin" "$(dirname "$desktop")" "$(dirname "$icon")"
cp -a "$here/." "$place.new/"
rm -rf "$place"
mv "$place.new" "$place"
ln -sf "$place/pura-audit" "$place/pura" "$prefix/bin/"
sed "s#^Exec=pura-audit#Exec=\"$place/pura-audit\"#" \
    "$place/share/applications/pura-audit.desktop" > "$desktop"
cp "$place/share/icons/hicolor/scalable/apps/pura-audit.svg" "$icon"
mkdir -p "$prefix/share/man/man1" "$prefix/share/man/de/man1"
cp "$place"/share/man/man1/*.1 "$prefix/share/man/man1/"
cp "$place"/share/man/de/man1/*.1 "$prefix/share/man/de/man1/"
if command -v update-desktop-database >/dev/null 2>&1; then
    update-desktop-database "$(dirname "$desktop")" || true
fi
echo "Installed in $place. Start it with “pura-audit”, or from the menu."
