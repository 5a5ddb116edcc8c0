#!/usr/bin/env bash
# Compares products with few rows or columns, and small products with a deep K, with cuBLAS: tunes `skinny` from an
# empty database in every layout, then compares every winner.
# Usage: bench/skinny.sh PROGRAM DEVICE OUTPUT.json
# The environment may set:
#   TUNE    options for smemtune tune of each layout; "--evaluations 50" by default
#   BENCH   options for smemtune bench; "--pairs 10" by default
#   COMMIT  the commit to record; the one checked out by default
set -eu
program=$1 device=$2 output=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export COMMIT=${COMMIT:-$(git -C "$(dirname "$0")" rev-parse --short HEAD)}

tune() {
    # shellcheck disable=SC2086  # several options
    "$program" tune --device "$device" --templates skinny --db "$scratch/tuning.db" ${TUNE:---evaluations 50} "$@"
}
sizes=
for few in 1 2 4 8 16 24; do sizes=$sizes${sizes:+,}4096x${few}x4096,${few}x4096x4096; done
tune --layout nn --sizes 16x16x100000,100000x10x64,10x10x10
for layout in nn nt tn tt; do tune --layout "$layout" --sizes "$sizes"; done
# shellcheck disable=SC2086  # several options
"$program" bench --device "$device" --templates skinny --db "$scratch/tuning.db" --against cublas --cache cold \
    --json "$output" ${BENCH:---pairs 10}
