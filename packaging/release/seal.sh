#!/bin/sh
# List the parts of the built application (SBOM), and seal everything in dist/packages.
#
#     packaging/release/seal.sh
#
# pura-audit-VERSION.cdx.json   CycloneDX, of the environment that the application was built from
# pura-audit-VERSION.models.json  SHA-256 of the built-in model's wheel and file, as the program has it
# SHA256SUMS                    of every file, the list of parts included
# SHA256SUMS.minisig            with PURA_RELEASE_KEY=FILE: signed by minisign, which asks for its
#                               passphrase. Make the key once: minisign -G -p pura.pub -s FILE
set -eu
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' core/pura/version.py)
lister=7.5.0
tool=build/release/lister
out=dist/packages
export PIP_DISABLE_PIP_VERSION_CHECK=1
[ -d build/linux/venv ] || { echo "Nothing is built yet: make packages" >&2; exit 1; }
if [ ! -x "$tool/bin/cyclonedx-py" ]; then
    "$(packaging/setup/python.sh)" -m venv --clear "$tool"
    "$tool/bin/python" -m pip install --quiet "cyclonedx-bom==$lister"
fi
mkdir -p "$out"
# --output-reproducible: no time and no serial number of the moment.
"$tool/bin/cyclonedx-py" environment --output-reproducible --pyproject pyproject.toml \
    --output-format JSON --output-file "$out/pura-audit-$version.cdx.json" build/linux/venv
# The lister knows no version that pyproject.toml does not state.
"$tool/bin/python" - "$out/pura-audit-$version.cdx.json" "$version" <<'END'
import json, sys
path, version = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    parts = json.load(file)
parts["metadata"]["component"]["version"] = version
with open(path, "w", encoding="utf-8") as file:
    json.dump(parts, file, indent=2, sort_keys=True)
END
cp resources/models.json "$out/pura-audit-$version.models.json"
(cd "$out" && find . -type f ! -name 'SHA256SUMS*' | sort | sed 's#^\./##' |
    xargs sha256sum > SHA256SUMS)
if [ -n "${PURA_RELEASE_KEY:-}" ]; then
    minisign -S -s "$PURA_RELEASE_KEY" -m "$out/SHA256SUMS" -t "PURA Audit $version"
else
    echo "Not signed: PURA_RELEASE_KEY names no key."
fi
cat "$out/SHA256SUMS"
