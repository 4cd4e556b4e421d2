#!/bin/sh
# Install the system libraries that Qt needs; with --tests also the programs that the tests start,
# with --package also what building the application takes. --runtime only prints what Qt needs.
#
# Does nothing when nothing is missing. As root, or with sudo that asks no password, on Debian or
# Ubuntu, it installs what is missing; otherwise it prints the command and stops.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

# A name with alternatives is written a|b: distributions renamed some packages for 64-bit time.
runtime="libglib2.0-0|libglib2.0-0t64 libegl1 libgl1 libx11-6 libdbus-1-3 \
libfontconfig1 libfreetype6 libxkbcommon0 libbrotli1 libgssapi-krb5-2 libxcb-cursor0 \
libxcb-icccm4 libxcb-image0 libxcb-keysyms1 libxcb-randr0 libxcb-render-util0 libxcb-shape0 \
libxcb-sync1 libxcb-xfixes0 libxcb-xkb1 libxkbcommon-x11-0 libx11-xcb1 libxcb-glx0 xkb-data"
tests="ca-certificates make git xvfb xauth xdotool openbox xclip at-spi2-core dbus gnome-keyring \
libsecret-tools poppler-utils qpdf openssl pandoc tesseract-ocr tesseract-ocr-eng \
fonts-inter fonts-noto-core fonts-noto-mono"
package="binutils"

wanted=$runtime
shared=""
case ${1:-} in
    --tests) wanted="$runtime $tests" ;;
    --package) wanted="$runtime $package" shared=--shared ;;
    --runtime) echo "$runtime" | tr ' ' '\n'; exit 0 ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "This is not Debian or Ubuntu: system libraries are not checked." >&2
    echo "If the window does not start, install the libraries that Qt 6 needs." >&2
    exit 0
fi

installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = "installed" ]
}

# A purely virtual package is shown with no text and without an error.
offered() {
    [ -n "$(apt-cache show --no-all-versions "$1" 2>/dev/null)" ]
}

# The first name of a|b|c that the distribution offers; before the first update none may be.
pick() {
    for name in $(echo "$1" | tr '|' ' '); do
        if offered "$name"; then
            echo "$name"
            return
        fi
    done
    echo "${1%%|*}"
}

# Debian 12 and later: the default Python serves. Ubuntu 22.04: its 3.10 is too old, 3.11 is beside.
# A package takes the shared library of its Python along, which Debian keeps in a package of its own.
python_package() {
    version=$(apt-cache show --no-all-versions python3 2>/dev/null |
        sed -n 's/^Version: 3\.\([0-9]*\).*/\1/p' | head -n 1)
    if [ "${version:-11}" -ge 11 ]; then
        venv=python3-venv
    else
        venv=$(pick "python3.13-venv|python3.12-venv|python3.11-venv")
        version=${venv#python3.}
        version=${version%-venv}
    fi
    echo "$venv"
    [ -z "$shared" ] || echo "libpython3.${version:-11}"
}

# $missing as names that apt-get understands; a Python that did not come from the system counts.
names() {
    [ "$python" = here ] || python_package
    for entry in $missing; do
        pick "$entry"
    done
}

python=here
"$here/python.sh" $shared >/dev/null 2>&1 || python=missing
missing=""
for entry in $wanted; do
    found=no
    for name in $(echo "$entry" | tr '|' ' '); do
        installed "$name" && found=yes
    done
    [ "$found" = yes ] || missing="$missing $entry"
done
[ "$python" = missing ] || [ -n "$missing" ] || exit 0

run=""
if [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        run="sudo -n"
    else
        {
            echo "System packages are missing, and installing them takes root:"
            echo ""
            echo "    sudo apt-get install --no-install-recommends $(names | xargs)"
            echo ""
            echo "Run that command, then try again."
        } >&2
        exit 1
    fi
fi

# A fresh cloud machine works on its packages by itself for minutes and holds apt's locks meanwhile.
# apt-get waits for the lock of dpkg when it is asked to, for the lock of the lists it never does.
update() {
    waited=0
    until words=$($run env LC_ALL=C apt-get update -qq 2>&1); do
        case $words in
            *"Could not get lock"*) ;;
            *) waited=$patience ;;
        esac
        if [ "$waited" -ge "$patience" ]; then
            echo "$words" >&2
            return 1
        fi
        [ "$waited" -gt 0 ] || echo "Another program holds the lock of apt (on a new machine its own" \
            "first update). Waiting for it, up to $((patience / 60)) minutes."
        sleep 5
        waited=$((waited + 5))
    done
}

patience=600
update
chosen=$(names | xargs)
echo "Installing system packages: $chosen"
# shellcheck disable=SC2086 # a list of package names
$run env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=$patience \
    install -y -qq --no-install-recommends $chosen
