#!/bin/sh
# What runs once a week, or when somebody wants to know. Each command works from a fresh clone.
#
#     packaging/weekly.sh audit              known holes: security rules, published advisories
#                                            (asks the network), a list of the parts (SBOM)
#     packaging/weekly.sh circle             from an engine to a report, by the commands of
#                                            docs/how-to/circle.md
#     packaging/weekly.sh engines [NAME…]    the adapters inside real serving engines, each in an
#                                            environment of its own
#     packaging/weekly.sh fuzz [SECONDS]     what reads strangers' bytes, 600 s in all (asks the
#                                            network once, for its tools)
#     packaging/weekly.sh survival           what a mark survives of other programs, written into
#                                            docs/how-to/what-survives.md
#
# Statistics, training, packages and an X server are tested by `make test-all`.
set -eu
cd "$(dirname "$0")/.."
bin=.venv/bin
# Spinning OpenMP threads can make two torch threads ten times slower than one on a busy machine.
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-PASSIVE}"

usage() {
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p;}' "$0"
}

command=${1:-help}
[ $# -eq 0 ] || shift
case $command in
    audit)
        make --no-print-directory install
        packaging/setup/audit.sh
        ;;
    circle)
        packaging/setup/system.sh --tests
        make --no-print-directory install
        $bin/pura model install >/dev/null
        packaging/setup/engines.sh --install llama_cpp
        PURA_CIRCLE=1 $bin/python -m pytest -q \
            tests/e2e/test_circle.py tests/e2e/test_chat_front_ends.py
        ;;
    engines)
        make --no-print-directory install
        $bin/pura model install >/dev/null
        packaging/setup/engines.sh "$@"
        ;;
    fuzz)
        seconds=${1:-600}
        make --no-print-directory install
        tests/fuzz/run.sh --seconds "$seconds"
        tests/fuzz/serve.sh
        $bin/python tests/fuzz/gguf_flips.py --seconds $((seconds / 2))
        ;;
    survival)
        make --no-print-directory install
        packaging/setup/tools.sh
        $bin/python bench/held_out.py --write
        ;;
    help | -h | --help)
        usage
        ;;
    *)
        usage >&2
        exit 2
        ;;
esac
