#!/bin/sh
# Build the application for macOS, prove it, sign and notarise it, and make dist/packages/….dmg.
#
#     packaging/macos/build.sh
#
# SIGN_AS      name of a “Developer ID Application” certificate in the keychain; without it the
#              programs carry the linker's own signature, and a user must allow them by hand
# NOTARY       name of a profile that “xcrun notarytool store-credentials” has kept; only with SIGN_AS
# PYTHON       a Python 3.11 or newer with a shared library, as python.org and Homebrew have it
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$root"
python=$(packaging/setup/python.sh)
version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' core/pura/version.py)
app="dist/macos/PURA Audit.app"
file="dist/packages/pura-audit-$version-macos-$(uname -m).dmg"

"$python" packaging/build.py

if [ -n "${SIGN_AS:-}" ]; then
    # From the inside out; the hardened runtime is what a notary asks for.
    find "$app/Contents" -type f \( -name '*.dylib' -o -name '*.so' \) -print0 |
        xargs -0 codesign --force --timestamp --options runtime --sign "$SIGN_AS"
    for program in pura pura-audit; do
        codesign --force --timestamp --options runtime --entitlements "$here/entitlements.plist" \
            --sign "$SIGN_AS" "$app/Contents/MacOS/$program"
    done
    codesign --force --timestamp --options runtime --entitlements "$here/entitlements.plist" \
        --sign "$SIGN_AS" "$app"
    codesign --verify --deep --strict "$app"
    # Proved again: the hardened runtime may refuse what ran before.
    rm -rf build/macos/proof
    "$app/Contents/MacOS/pura" -m pura_audit.tools.packaged_check prove build/macos/proof
fi

mkdir -p dist/packages build/macos/dmg
rm -rf build/macos/dmg/* "$file"
cp -R "$app" build/macos/dmg/
ln -s /Applications build/macos/dmg/Applications
cp LICENSE dist/macos/pura-audit/share/doc/pura-audit/THIRD-PARTY.txt build/macos/dmg/
hdiutil create -volname "PURA Audit $version" -srcfolder build/macos/dmg -format UDZO "$file"

if [ -n "${SIGN_AS:-}" ]; then
    codesign --timestamp --sign "$SIGN_AS" "$file"
    if [ -n "${NOTARY:-}" ]; then
        xcrun notarytool submit "$file" --keychain-profile "$NOTARY" --wait
        xcrun stapler staple "$file"
        spctl --assess --type open --context context:primary-signature "$file"
    fi
fi

# The image itself: as a user opens it.
place=$(mktemp -d)
hdiutil attach "$file" -nobrowse -readonly -mountpoint "$place"
trap 'hdiutil detach "$place"' EXIT
"$place/PURA Audit.app/Contents/MacOS/pura" --version
echo "All held: $file"
