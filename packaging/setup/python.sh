#!/bin/sh
# Print the first Python >= 3.11 that can make virtual environments; exit 1 when there is none.
#
# With --shared only one whose shared library can be loaded: the built application takes it along.
question='
import sys, venv, ensurepip
if sys.version_info < (3, 11):
    sys.exit(1)
if "--shared" in sys.argv:
    import ctypes, pathlib, sysconfig
    name, folder = sysconfig.get_config_vars("INSTSONAME", "LIBDIR")
    for place in (name, str(pathlib.Path(folder or "") / name)):
        try:
            ctypes.CDLL(place)
            break
        except OSError:
            pass
    else:
        sys.exit(1)
'
for name in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
    [ -n "$name" ] || continue
    path=$(command -v "$name" 2>/dev/null) || continue
    if "$path" -c "$question" "$@" 2>/dev/null; then
        echo "$path"
        exit 0
    fi
done
if [ "${1:-}" = "--shared" ] && usual=$("$0" 2>/dev/null); then
    version=$("$usual" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    echo "The application takes Python's shared library along, and $usual has none." >&2
    echo "On Debian or Ubuntu: apt-get install libpython$version. A Python that was built by hand" \
        "needs --enable-shared." >&2
    exit 1
fi
echo "No Python 3.11 or newer with venv was found." >&2
echo "On Debian or Ubuntu: apt-get install python3 python3-venv" >&2
exit 1
