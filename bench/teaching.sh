#!/usr/bin/env bash
# Measures the teaching kernels for README.md and docs/performance.md. The script tunes them exhaustively from an empty
# database, then runs the same command again. Winner and baseline are timed alternately, so their ratio is a median over
# pairs.
# Usage: bench/teaching.sh PROGRAM DEVICE OUTPUT.json [SIZES]
set -eu
program=$1 device=$2 output=$3 sizes=${4:-512..8192}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
teaching=naive,row_tile,row_column_tile,tiled,strip_tiled,rectangular_tiled,joint_tiled,thread_tiled
commit=${COMMIT:-$(git -C "$(dirname "$0")" rev-parse --short HEAD)}

again() { "$program" --device "$device" --templates "$teaching" --sizes "$sizes" --search exhaustive --db "$scratch/tuning.db" --json; }
again >"$scratch/first.json"
begin=$(date +%s.%N)
again >"$scratch/second.json"
end=$(date +%s.%N)
{
    printf '{"benchmark": "teaching", "commit": "%s", "date": "%s",\n' "$commit" "$(date -u +%F)"
    printf '"driver": "%s",\n' "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)"
    printf '"second_run_seconds": %s,\n' "$(echo "$end $begin" | awk '{printf "%.3f", $1 - $2}')"
    printf '"second_run_measured": %s,\n' "$(sed -n 's/^  "measured": \([0-9]*\),*$/\1/p' "$scratch/second.json")"
    printf '"report": '
    grep -v '^  "database": ' "$scratch/first.json"  # leaves out the path of the temporary database
    printf '}\n'
} >"$output"
