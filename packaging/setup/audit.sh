#!/bin/sh
# Look for known holes: security rules over our own code, published advisories over the pinned parts.
# Beside that a list of the parts is written (SBOM, CycloneDX): build/audit/sbom.json.
#
# The advisories come from the network, which this script says before it asks. Where they cannot be
# reached, that part is left out and said; a hole that is found makes the script fail.
set -eu
cd "$(dirname "$0")/../.."
version=2.10.1
lister=7.5.0
place=build/audit

echo "== Security rules over core/, app/, packaging/ and bench/"
.venv/bin/ruff check --select S --ignore S101 core app packaging bench

echo "== Published advisories for the versions in constraints.txt (asks the network)"
if [ "$(cat "$place/made" 2>/dev/null)" != "$version $lister" ]; then
    "$(packaging/setup/python.sh)" -m venv --clear "$place"
    "$place/bin/python" -m pip install --quiet "pip-audit==$version" "cyclonedx-bom==$lister" || {
        echo "Left out: the checking programs (pip-audit, cyclonedx-bom) cannot be installed here."
        exit 0
    }
    echo "$version $lister" > "$place/made"
fi
# Local builds of torch carry a suffix that no advisory knows.
sed 's/+cpu$//' constraints.txt > "$place/parts.txt"
"$place/bin/cyclonedx-py" requirements --of JSON -o "$place/sbom.json" "$place/parts.txt"
status=0
"$place/bin/pip-audit" --requirement "$place/parts.txt" --no-deps --disable-pip \
    --progress-spinner off > "$place/said.txt" 2>&1 || status=$?
if [ "$status" != 0 ] && ! grep -q "known vulnerabilit" "$place/said.txt"; then
    tail -n 3 "$place/said.txt"
    echo "Left out: the advisories cannot be reached from here. Nothing is said about the parts."
    exit 0
fi
parts=$(grep -c '==' "$place/parts.txt")
unknown=$(grep -c 'could not be audited' "$place/said.txt" || true)
grep -v 'could not be audited' "$place/said.txt" || true
echo "Looked up: $((parts - unknown)) of $parts parts."
[ "$unknown" != "$parts" ] || echo "The index in use here knows no advisories: nothing is said."
exit "$status"
