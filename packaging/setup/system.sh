#!/bin/sh
# Install the system libraries that Qt needs, and with --tests those of the tests.
#
# Does nothing when nothing is missing. As root, or with sudo that asks no password, on Debian or
# Ubuntu, it installs what is missing; otherwise it prints the command and stops.
set -eu

# A name with alternatives is written a|b: distributions renamed some packages for 64-bit time.
runtime="python3-venv libglib2.0-0|libglib2.0-0t64 libegl1 libgl1 libx11-6 libdbus-1-3 \
libfontconfig1 libfreetype6 libxkbcommon0 libbrotli1 libgssapi-krb5-2 libxcb-cursor0 \
libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 \
libxcb-sync1 libxcb-xfixes0 libxcb-xkb1 libxkbcommon-x11-0 libx11-xcb1 libxcb-glx0 xkb-data"
tests="xvfb xauth dbus gnome-keyring libsecret-tools git"

wanted=$runtime
[ "${1:-}" = "--tests" ] && wanted="$runtime $tests"

if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "This is not Debian or Ubuntu: system libraries are not checked." >&2
    echo "If the window does not start, install the libraries that Qt 6 needs." >&2
    exit 0
fi

installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = "installed" ]
}

# A Python that did not come from the system brings its own venv module.
have_venv() {
    "$(dirname "$0")/python.sh" >/dev/null 2>&1
}

missing=""
for entry in $wanted; do
    found=no
    [ "$entry" = "python3-venv" ] && have_venv && found=yes
    for name in $(echo "$entry" | tr '|' ' '); do
        installed "$name" && found=yes
    done
    [ "$found" = yes ] || missing="$missing $entry"
done
[ -n "$missing" ] || exit 0

run=""
if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        run="sudo"
    else
        names=$(echo "$missing" | sed 's/|[^ ]*//g')
        echo "These system libraries are missing, and installing them takes root:" >&2
        echo "" >&2
        echo "    sudo apt-get install --no-install-recommends$names" >&2
        echo "" >&2
        echo "Run that command, then try again." >&2
        exit 1
    fi
fi

echo "Installing system libraries:$missing"
export DEBIAN_FRONTEND=noninteractive
$run apt-get update -qq
chosen=""
for entry in $missing; do
    pick=""
    for name in $(echo "$entry" | tr '|' ' '); do
        if [ -z "$pick" ] && apt-cache show "$name" >/dev/null 2>&1; then
            pick=$name
        fi
    done
    chosen="$chosen ${pick:-${entry%%|*}}"
done
# shellcheck disable=SC2086 # a list of package names
$run env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $chosen
