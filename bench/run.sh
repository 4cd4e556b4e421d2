#!/bin/sh
# The benchmarks and experiments that a page of the documentation quotes. Every other file of bench/
# is a program of its own, and its first lines say how it is called.
#
#     bench/run.sh costs                print what an audit costs, side by side, with the machine
#     bench/run.sh sweeps               print and draw how cost grows: payload, keys, texts,
#                                       vocabulary, tokens, number formats
#     bench/run.sh reproduce [--full]   run the paper's experiments into build/reproduction: 8 texts
#                                       a cell, with --full every cell with 128 texts
set -eu
cd "$(dirname "$0")/.."
bin=.venv/bin
# Spinning OpenMP threads can make two torch threads ten times slower than one on a busy machine.
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-PASSIVE}"

usage() {
    sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p;}' "$0"
}

case ${1:-help} in
    costs)
        make --no-print-directory install
        for name in trellis evidence_pass audit_cost generation startup window; do
            $bin/python "bench/$name.py"
        done
        ;;
    sweeps)
        make --no-print-directory install
        $bin/python bench/sweeps.py --plot docs/images/how-cost-grows.svg
        $bin/python bench/number_formats.py
        ;;
    reproduce)
        make --no-print-directory install
        $bin/pura model install
        case ${2:-} in
            --full) set -- --full ;;
            *) set -- --texts 8 ;;
        esac
        $bin/pura lab run all --output build/reproduction "$@"
        ;;
    help | -h | --help)
        usage
        ;;
    *)
        usage >&2
        exit 2
        ;;
esac
