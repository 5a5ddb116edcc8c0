#!/usr/bin/env bash
# FP32 matrix products against cuBLAS and the best of cublasLt's proposals: tunes what the database lacks, then compares
# every winner in it, and says what changed by more than noise since EARLIER.
# Usage: bench/gemm_f32.sh PROGRAM DEVICE OUTPUT.json [DATABASE], with these in the environment:
#   TEMPLATES  what is tuned, as for --templates; all by default
#   SIZES      of layout nn
#   LAYOUTS    tuned at 4096 besides, "nt tn tt" by default; "" leaves them out
#   EARLIER    a JSON file of an earlier comparison; by default OUTPUT.json where it exists already
#   TUNE       more words for smemtune tune, for example "--budget 5m"
set -eu
program=$1 device=$2 output=$3 database=${4:-}
sizes=${SIZES:-512..8192,1000,1023,2047,4095,4097,16x4096x4096,64x64x65536,4096x4096x128,300x700x5000,8192x128x8192}
layouts=${LAYOUTS-nt tn tt}
earlier=${EARLIER-$output}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
database=${database:-$scratch/tuning.db}
export COMMIT=${COMMIT:-$(git -C "$(dirname "$0")" rev-parse --short HEAD)}

# What is stored already costs nothing, so an interrupted run goes on where it was.
tune() {
    # shellcheck disable=SC2086  # several words
    "$program" tune --device "$device" --templates "${TEMPLATES:-}" --db "$database" ${TUNE:-} "$@"
}
tune --layout nn --sizes "$sizes"
for layout in $layouts; do tune --layout "$layout" --sizes 4096; done

against=cublas,cublaslt
if [ -f "$earlier" ]; then against=$against,$earlier; fi
"$program" bench --device "$device" --db "$database" --against "$against" --json "$output"
