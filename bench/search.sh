#!/usr/bin/env bash
# Measures how much tuning time the default search saves compared with an exhaustive search, and how much slower its
# winners are. The script tunes the teaching kernels exhaustively, and then with the default search from an empty
# database. Then it tunes them with five other seeds. A fresh process times the winners of these seeds and the winners
# of the exhaustive search in turn. In the report, `behind` is the median of the paired ratios, minus 1.
# Usage: bench/search.sh PROGRAM DEVICE OUTPUT.json [SIZES]
set -eu
program=$1 device=$2 output=$3 sizes=${4:-512..8192}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
teaching=naive,row_tile,row_column_tile,tiled,strip_tiled,rectangular_tiled,joint_tiled
commit=${COMMIT:-$(git -C "$(dirname "$0")" rev-parse --short HEAD)}

# tune OPTION...: prints the JSON report of a run, without the path of the temporary database.
tune() { "$program" --device "$device" --templates "$teaching" --sizes "$sizes" --json "$@" | grep -v '^  "database": '; }
{
    printf '{"benchmark": "search", "commit": "%s", "date": "%s",\n' "$commit" "$(date -u +%F)"
    printf '"driver": "%s",\n' "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)"
    printf '"cores": %s,\n' "$(nproc)"
    printf '"exhaustive": '
    tune --search exhaustive --db "$scratch/exhaustive.db"
    printf ',\n"search": '
    tune --db "$scratch/search.db"
    printf ',\n"validation": '
    tune --validate 5 --db "$scratch/exhaustive.db"
    printf '}\n'
} >"$output"
