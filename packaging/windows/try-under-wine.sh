#!/usr/bin/env bash
# Try the application for Windows on Linux, under Wine, as far as Wine has Windows.
#
#     packaging/windows/try-under-wine.sh [--folder FOLDER] [STEP…]
#
# Steps, in this order; left out: all. tests: those of the core under the Python of Windows.
# installer: in silence in, its files compared with what was built and with the wheel, and out.
# verify: keyring, model, vectors, one audit. window: the sample in the real window, with a picture.
# FOLDER keeps Wine's prefix, logs and picture; left out: a temporary one. FOLDERS="keys cli" names
# folders of tests/core. What ran and what did not is said at the end. Needs build.sh's result.
#
# Not of Windows, and told of here: ucrtbase's complex functions, ProcessPrng and the colours of the
# desktop, which Wine 8 lacks, are added to the prefix (mingw-w64); WMI and NUMA are not asked; a
# symbolic link, which Wine only says it made, is refused as Windows refuses it to most users. None of
# it ships.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$root"
bin=${BIN:-.venv/bin}
folder="" steps=()
while [ $# -gt 0 ]; do
    case $1 in
        --folder) folder=$(realpath -m "$2"); shift ;;
        tests | installer | verify | window) steps+=("$1") ;;
        *) sed -n '2,15s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
    shift
done
[ ${#steps[@]} -gt 0 ] || steps=(tests installer verify window)
packages="wine wine64 gcc-mingw-w64-x86-64 nsis xvfb xauth unzip"
for program in wine x86_64-w64-mingw32-gcc makensis xvfb-run unzip; do
    command -v "$program" >/dev/null || {
        echo "$program is missing: apt-get install --no-install-recommends $packages" >&2
        exit 1
    }
done
app=$root/dist/windows/pura-audit
[ -f "$app/pura.exe" ] || { echo "Nothing is built yet: packaging/windows/build.sh" >&2; exit 1; }
[ -n "$folder" ] || { folder=$(mktemp -d); trap 'wineserver -k || true; rm -rf "$folder"' EXIT; }
mkdir -p "$folder/logs"
export WINEPREFIX=$folder/prefix WINEDEBUG=-all WINEARCH=win64
export WINEDLLOVERRIDES="mscoree,mshtml=;ucrtbase=n,b"
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE
unset PYTHONPATH DISPLAY QT_QPA_PLATFORM FONTCONFIG_FILE

# What ran, said at once and again at the end.
ran() { echo "$1"; echo "  $1" >>"$folder/ran"; }
# Python wants pipes: Wine gives it no good handle for a file.
windows() { wine "$@" </dev/null 2>&1 | cat; return "${PIPESTATUS[0]}"; }
# Under which name Windows sees a path of Linux.
seen() { printf 'Z:%s' "${1//\//\\}"; }

make_prefix() {
    [ ! -f "$WINEPREFIX/made" ] || return 0
    echo "Making Wine's prefix in $WINEPREFIX"
    WINEDLLOVERRIDES="mscoree,mshtml=" wineboot --init >"$folder/logs/wine.txt" 2>&1
    winecfg -v win10 >>"$folder/logs/wine.txt" 2>&1
    local system=$WINEPREFIX/drive_c/windows/system32 shim=$folder/shim
    local own=/usr/lib/x86_64-linux-gnu/wine/x86_64-windows/ucrtbase.dll
    mkdir -p "$shim"
    # Windows passes a complex number as two numbers in a structure; its long double is a double.
    cat >"$shim/complex.c" <<'END'
#include <complex.h>
typedef struct { float re, im; } two_f;
typedef struct { double re, im; } two_d;
#define IN(z) __builtin_complex((double)(z).re, (double)(z).im)
#define OUT(t, v) double complex w = v; return (t){creal(w), cimag(w)}
#define ONE(name, end, t) t wine_##name##end(t z) { OUT(t, name(IN(z))); }
#define ALL(end, t, r) \
  r wine_creal##end(t z) { return z.re; } \
  r wine_cimag##end(t z) { return z.im; } \
  r wine_cabs##end(t z) { return cabs(IN(z)); } \
  r wine_carg##end(t z) { return carg(IN(z)); } \
  t wine_cpow##end(t x, t y) { OUT(t, cpow(IN(x), IN(y))); } \
  ONE(catan, end, t) ONE(ccos, end, t) ONE(ccosh, end, t) ONE(cexp, end, t) ONE(clog, end, t) \
  ONE(csin, end, t) ONE(csinh, end, t) ONE(csqrt, end, t) ONE(ctan, end, t) ONE(ctanh, end, t)
ALL(f, two_f, float)
ALL(, two_d, double)
ALL(l, two_d, double)
END
    cat >"$shim/random.c" <<'END'
#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) {
    return RtlGenRandom(data, (ULONG)length);
}
END
    # The colours of Windows 10, which Qt asks a class of the run-time for that Wine lacks.
    cat >"$shim/settings.c" <<'END'
#include <initguid.h>
#include <windows.h>
DEFINE_GUID(SETTINGS, 0x85361600, 0x1C63, 0x4627, 0xBC, 0xB1, 0x3A, 0x89, 0xE0, 0xBC, 0x9C, 0x55);
DEFINE_GUID(SETTINGS3, 0x03021BE4, 0x5254, 0x4781, 0x81, 0x94, 0x51, 0x68, 0xF7, 0xD0, 0x6D, 0x7B);
DEFINE_GUID(INSPECTABLE, 0xAF86E2E0, 0xB12D, 0x4C6A, 0x9C, 0x5A, 0xD7, 0xAA, 0x65, 0x10, 0x1E, 0x90);
DEFINE_GUID(AGILE, 0x94EA2B94, 0xE9CC, 0x49E0, 0xC0, 0xFF, 0xEE, 0x64, 0xCA, 0x8F, 0x5B, 0x90);
DEFINE_GUID(UNKNOWN, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0, 0x46);
DEFINE_GUID(FACTORY, 0x35, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0, 0x46);
typedef struct { BYTE a, r, g, b; } color;
static HRESULT asked(void **self, const GUID **known, REFIID iid, void **out) {
    for (; *known; known++)
        if (IsEqualGUID(*known, iid)) { *out = self; return S_OK; }
    *out = NULL;
    return E_NOINTERFACE;
}
static const GUID *of_settings[] = {&UNKNOWN, &INSPECTABLE, &AGILE, &SETTINGS, &SETTINGS3, NULL};
static const GUID *of_factory[] = {&UNKNOWN, &INSPECTABLE, &AGILE, &FACTORY, NULL};
static HRESULT ask_settings(void **s, REFIID iid, void **out) { return asked(s, of_settings, iid, out); }
static HRESULT ask_factory(void **s, REFIID iid, void **out) { return asked(s, of_factory, iid, out); }
static ULONG count(void *s) { return 2; }
static HRESULT none(void *s) { return E_NOTIMPL; }
static HRESULT value(void *s, int kind, color *out) {
    color all[] = {{255, 255, 255, 255}, {255, 0, 0, 0}};
    color accent = {255, 0, 120, 215};
    *out = kind < 2 ? all[kind] : accent;
    return S_OK;
}
static HRESULT watch(void *s, void *handler, INT64 *token) { *token = 1; return S_OK; }
static HRESULT leave(void *s, INT64 token) { return S_OK; }
static void *settings_calls[] = {ask_settings, count, count, none, none, none, value, watch, leave};
static void *settings = settings_calls;
static HRESULT make(void *s, void **out) { *out = &settings; return S_OK; }
static void *factory_calls[] = {ask_factory, count, count, none, none, none, make};
static void *factory = factory_calls;
__declspec(dllexport) HRESULT DllGetActivationFactory(void *name, void **out) { *out = &factory; return S_OK; }
__declspec(dllexport) HRESULT DllCanUnloadNow(void) { return S_FALSE; }
END
    x86_64-w64-mingw32-gcc -O2 -c "$shim/complex.c" -o "$shim/complex.o"
    x86_64-w64-mingw32-nm "$shim/complex.o" | sed -n 's/.* T wine_//p' | sort >"$shim/ours"
    # All other names lead to Wine's own library under another name.
    {
        printf 'LIBRARY ucrtbase.dll\nEXPORTS\n'
        x86_64-w64-mingw32-objdump -p "$own" | sed -n '/Ordinal\/Name Pointer/,/^$/p' |
            awk 'NR == FNR { ours[$1]; next }
                /\[ *[0-9]+\]/ { print " ", $NF, "=", ($NF in ours ? "wine_" : "ucrtwine.") $NF }' \
                "$shim/ours" -
    } >"$shim/ucrtbase.def"
    x86_64-w64-mingw32-gcc -shared -static-libgcc -o "$system/ucrtbase.dll" "$shim/complex.o" \
        "$shim/ucrtbase.def"
    cp "$own" "$system/ucrtwine.dll"
    # Without this mark of its own, Wine would look for it among its own.
    head -c 32 /dev/zero | dd of="$system/ucrtwine.dll" bs=1 seek=64 conv=notrunc status=none
    x86_64-w64-mingw32-gcc -O2 -shared -static-libgcc -o "$system/bcryptprimitives.dll" \
        "$shim/random.c" -ladvapi32
    x86_64-w64-mingw32-gcc -O2 -shared -static-libgcc -o "$system/uisettings.dll" "$shim/settings.c"
    local class='HKLM\Software\Microsoft\WindowsRuntime\ActivatableClassId\Windows.UI.ViewManagement.UISettings'
    windows reg add "$class" /v DllPath /d 'C:\windows\system32\uisettings.dll' /f >>"$folder/logs/wine.txt"
    touch "$WINEPREFIX/made"
}

# What Wine lacks is taken away from a copy of the application's Python, and told by sitecustomize.
humble() {
    rm -f "$1/_wmi.pyd"
    cat >"$1/sitecustomize.py" <<'END'
import os
import _winapi


def refused(*_, **__):
    raise OSError(22, "A required privilege is not held by the client", None, 1314)


os.symlink = refused
if hasattr(_winapi, "CopyFile2"):
    del _winapi.CopyFile2
# The OpenMP of torch asks for NUMA; children get no variable of the shell's.
os.environ["KMP_AFFINITY"] = "disabled"
END
}

step_tests() {
    local python=$folder/python extra=$folder/extra
    rm -rf "$python"
    mkdir -p "$python"
    find "$app" -maxdepth 1 -type f -exec cp {} "$python" \;
    humble "$python"
    if [ ! -d "$extra" ]; then
        "$bin/python" - <<'END' >"$folder/requirements.txt"
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
print(*project["optional-dependencies"]["provenance"], sep="\n")
print(*("pytest<9.2", "pytest-timeout", "pytest-xdist", "pytest-qt", "hypothesis"), sep="\n")
print(*("jsonschema", "python-docx", "pikepdf", "psutil", "httpx2"), sep="\n")
END
        "$bin/uv" pip install --quiet --python-platform x86_64-pc-windows-msvc --python-version 3.13 \
            --only-binary :all: --constraints constraints.txt --target "$extra" \
            --requirements "$folder/requirements.txt"
    fi
    printf '%s\r\n' python313.zip . "$(seen "$root/core")" "$(seen "$root/app")" "$(seen "$root")" \
        "$(seen "$app/site")" "$(seen "$extra")" 'import site' >"$python/python313._pth"
    export CI=true PYTHONDONTWRITEBYTECODE=1
    local name log status=0
    for name in ${FOLDERS:-base scheme extract decode record documents keys caselog cli}; do
        log=$folder/logs/tests-$name.txt
        QT_QPA_PLATFORM=offscreen windows "$python/python.exe" -m pytest -q -p no:cacheprovider \
            -m "not weekly" --timeout 300 --tb short "tests/core/$name" >"$log" || status=1
        ran "tests/core/$name: $(grep -aE ' in [0-9.]+s' "$log" | tail -n 1 | tr -d '\r')"
    done
    return $status
}

step_installer() {
    local version setup place files
    version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' core/pura/version.py)
    setup=$(find dist/packages -name "pura-audit*-$version-windows-x86_64.exe" | head -n 1)
    [ -n "$setup" ] || { echo "There is no installer: packaging/windows/build.sh" >&2; return 1; }
    place=$WINEPREFIX/drive_c/PURA
    rm -rf "$place"
    windows "$setup" /S '/D=C:\PURA'
    (cd "$app" && find . -type f | LC_ALL=C sort) >"$folder/built"
    (cd "$place" && find . -type f ! -name uninstall.exe | LC_ALL=C sort) >"$folder/installed"
    diff "$folder/built" "$folder/installed" >"$folder/logs/installer.txt"
    while read -r name; do
        cmp -s "$app/$name" "$place/$name" || { echo "differs: $name" >&2; return 1; }
    done <"$folder/built"
    # Every file of the wheel is there, with the digest that the wheel states.
    "$bin/python" - build/windows/dist "$place/site" <<'END'
import base64, csv, hashlib, io, sys, zipfile
from pathlib import Path

[wheel] = Path(sys.argv[1]).glob("*.whl")
archive = zipfile.ZipFile(wheel)
[record] = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]
rows = [row for row in csv.reader(io.TextIOWrapper(archive.open(record), "utf-8")) if row[1]]
for name, digest, _ in rows:
    kind, _, value = digest.partition("=")
    found = hashlib.new(kind, Path(sys.argv[2], name).read_bytes()).digest()
    assert base64.urlsafe_b64encode(found).rstrip(b"=").decode() == value, name
print(f"{len(rows)} files of {wheel.name} are installed as they are in it")
END
    humble "$place" # only now: it is not what was installed
    windows "$place/pura.exe" --version | tee -a "$folder/logs/installer.txt"
    rm -f "$place/sitecustomize.py"
    files=$(wc -l <"$folder/built")
    touch "$place/of-the-user.txt"
    windows "$place/uninstall.exe" /S "_?=C:\\PURA"
    rm -f "$place/uninstall.exe" # what runs cannot take itself away when it is waited for
    [ "$(find "$place" -type f)" = "$place/of-the-user.txt" ] || {
        echo "Left after the removal:" >&2
        find "$place" -type f ! -name of-the-user.txt | head >&2
        return 1
    }
    ran "installer: $files files in, the same as built; after the removal only the user's is left"
}

step_verify() {
    local place=$folder/app log=$folder/logs/verify.txt
    lay_out "$place"
    export PURA_HOME='C:\home'
    local check=(-m pura_audit.tools.packaged_check)
    {
        windows "$place/pura.exe" "${check[@]}" keyrings
        windows "$place/pura.exe" "${check[@]}" round-trip
        windows "$place/pura.exe" model install
        windows "$place/pura.exe" selftest
        windows "$place/pura.exe" "${check[@]}" sample 'C:\sample'
        windows "$place/pura.exe" verify 'C:\sample\text.txt' --key-file 'C:\sample\key.txt' \
            --profile 'C:\sample\profile.json' --json --explain
    } >"$log"
    grep -q '"verdict": "mark"' "$log"
    ran "verify: keyring, model, vectors and one audit under torch; a mark was found"
}

step_window() {
    local place=$folder/app log=$folder/logs/window.txt
    [ -d "$place" ] || lay_out "$place"
    export PURA_HOME='C:\home' QT_QPA_PLATFORM=windows
    windows "$place/pura.exe" model install >"$log"
    wineserver -k || true # it was started without a screen
    # shellcheck disable=SC2016 # the inner shell reads its own arguments
    xvfb-run -a -s "-screen 0 1600x1000x24" sh -c 'wine "$0" "$@" </dev/null 2>&1 | cat' \
        "$place/pura.exe" -m pura_audit.tools.packaged_check window \
        "$(seen "$folder/window.png")" >>"$log"
    grep -q '^read: ' "$log"
    ran "window: the sample was read in it; picture: $folder/window.png"
}

lay_out() {
    rm -rf "$1"
    cp -a "$app" "$1"
    humble "$1"
}

make_prefix
: >"$folder/ran"
failed=()
for step in "${steps[@]}"; do
    echo "== $step"
    set +e # in a condition the shell would not stop at an error within
    (set -e; "step_$step")
    [ $? -eq 0 ] || failed+=("$step")
    set -e
done
wineserver -k || true
printf '\nRan under %s:\n' "$(wine --version)"
cat "$folder/ran"
for step in "${failed[@]}"; do echo "  $step: did not hold; $folder/logs says why"; done
echo "Never ran: Windows itself; its permissions of files, WMI and NUMA calls, links; an installation"
echo "for all users; signing; graphics cards; weekly tests, and those that say why they are left out."
[ ${#failed[@]} -eq 0 ]
