#!/bin/sh
# Make an environment of each serving engine below .engines and run tests/engines in it; and one,
# provenance, of the readers of manifests that do not go beside our own packages.
#
#   packaging/setup/engines.sh [--install] [ENGINE …]
#
# Without a name: all that engines/*.txt pin. With --install nothing is tested.
#
# An engine brings its own versions of what PURA shares with it, so each has an environment. What is
# pinned is installed without asking for more: vLLM's own list names packages for pictures and sound.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$root"
. "$here/uv.sh"

install() {
    pins="$here/engines/$1.txt" python=".engines/$1/bin/python"
    want="$(cat "$pins" pyproject.toml | cksum) $root"
    [ "$(cat ".engines/$1/installed" 2>/dev/null)" != "$want" ] || return 0
    echo "Installing $1 into .engines/$1"
    .venv/bin/uv venv --quiet --clear --python "$(readlink -f .venv/bin/python)" ".engines/$1"
    # torch brings what its build needs, which is not the same everywhere.
    [ "$1" = provenance ] || with_uv "$python" -c "$pins" torch==2.13.0
    with_uv "$python" --no-deps -r "$pins" -e .
    echo "$want" > ".engines/$1/installed"
}

only=
[ "${1:-}" != --install ] || { only=install; shift; }
[ $# -gt 0 ] || set -- $(basename -s .txt "$here"/engines/*.txt)
failed=
for engine in "$@"; do
    [ "$engine" != litellm ] || install llama_cpp  # which its tests put behind it
    install "$engine"
    [ -z "$only" ] || continue
    # From the folder itself: nothing of the window's tests is loaded.
    (cd tests/engines && PYTHONPATH="$root" VLLM_ENABLE_V1_MULTIPROCESSING=0 \
        "$root/.engines/$engine/bin/python" -m pytest -q -c /dev/null --rootdir=. --confcutdir=. \
        --import-mode=prepend -p no:cacheprovider --timeout=1800 test_"$engine"*.py) ||
        failed="$failed $engine"
done
[ -z "$failed" ] || { echo "Failed in:$failed" >&2; exit 1; }
