#!/usr/bin/env bash
# Compares matrix products with cuBLAS and with the best of cublasLt's proposals. The script tunes the problems that
# have no winner in the database, compares every winner, and prints which ratios changed since EARLIER by more than
# noise.
# Usage: bench/gemm.sh PROGRAM DEVICE OUTPUT.json [DATABASE]
# Without DATABASE, the script starts with an empty database. The environment may set:
#   TYPE       the type of the elements; f32 by default
#   TEMPLATES  the templates to tune, as for --templates; all by default
#   SIZES      the sizes of layout nn
#   LAYOUTS    other layouts; "nt tn tt" by default, "" for none
#   MORE       the sizes of the other layouts; 4096 by default
#   EARLIER    the JSON file of an earlier comparison; OUTPUT.json by default, if it exists
#   TUNE       more options for smemtune tune, for example "--budget 5m"
#   BENCH      more options for smemtune bench, for example "--pairs 10"
#   COMMIT     the commit to record; by default, the one that is checked out
set -eu
program=$1 device=$2 output=$3 database=${4:-}
sizes=${SIZES:-512..8192,1000,1023,2047,4095,4097,16x4096x4096,64x64x65536,4096x4096x128,300x700x5000,8192x128x8192}
layouts=${LAYOUTS-nt tn tt}
earlier=${EARLIER-$output}
type=${TYPE:-f32}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
database=${database:-$scratch/tuning.db}
export COMMIT=${COMMIT:-$(git -C "$(dirname "$0")" rev-parse --short HEAD)}

# Stored outcomes are not measured again. With DATABASE, an interrupted run therefore continues where it stopped.
tune() {
    # shellcheck disable=SC2086  # several options
    "$program" tune --device "$device" --type "$type" --templates "${TEMPLATES:-}" --db "$database" ${TUNE:-} "$@"
}
tune --layout nn --sizes "$sizes"
for layout in $layouts; do tune --layout "$layout" --sizes "${MORE:-4096}"; done

against=cublas,cublaslt
if [ -f "$earlier" ]; then against=$against,$earlier; fi
# shellcheck disable=SC2086  # several options
"$program" bench --device "$device" --type "$type" --db "$database" --against "$against" --json "$output" ${BENCH:-}
