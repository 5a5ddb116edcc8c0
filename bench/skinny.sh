#!/usr/bin/env bash
# Compares `skinny` and `matrix_vector` with cuBLAS, for products with few rows or columns and for small products with a
# deep K. The script tunes both templates from an empty database in every layout, then compares every winner. The output
# also has the bandwidth of a copy within the device's memory, and the bandwidth of each product as a share of it. The
# bandwidth of a product counts each operand once.
# The script needs nvcc and python3.
# Usage: bench/skinny.sh PROGRAM DEVICE OUTPUT.json
# The environment may set:
#   TUNE    options for smemtune tune, in every layout; "--evaluations 50" by default
#   BENCH   options for smemtune bench; "--pairs 10" by default
#   COMMIT  the commit to record; by default, the one that is checked out
set -eu
program=$1 device=$2 output=$3
folder=$(dirname "$0")
templates=skinny,matrix_vector
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export COMMIT=${COMMIT:-$(git -C "$folder" rev-parse --short HEAD)}
nvcc -O2 -arch=native "$folder/copy_bandwidth.cu" -o "$scratch/copy_bandwidth"
copy=$("$scratch/copy_bandwidth")

tune() {
    # shellcheck disable=SC2086  # several options
    "$program" tune --device "$device" --templates "$templates" --db "$scratch/tuning.db" \
        ${TUNE:---evaluations 50} "$@"
}
sizes=
for few in 1 2 4 8 16 24; do sizes=$sizes${sizes:+,}4096x${few}x4096,${few}x4096x4096; done
tune --layout nn --sizes 16x16x100000,100000x10x64,10x10x10
for layout in nn nt tn tt; do tune --layout "$layout" --sizes "$sizes"; done
# shellcheck disable=SC2086  # several options
"$program" bench --device "$device" --templates "$templates" --db "$scratch/tuning.db" --against cublas --cache cold \
    --json "$output" ${BENCH:---pairs 10}
python3 - "$output" "$copy" <<'P'
import json, sys
path, copy = sys.argv[1], float(sys.argv[2])
with open(path) as file:
    result = json.load(file)
result["copy_bytes_per_second"] = copy
for problem in result["problems"]:
    M, N, K = (problem["problem"]["extents"][name] for name in "MNK")
    cold = problem["caches"]["cold"]
    cold["share_of_copy"] = round(4 * (M * K + K * N + M * N) / (cold["median_us"] * 1e-6) / copy, 4)
    if min(M, N) == 1:
        print(problem["problem"]["size"], problem["problem"]["layout"], f'{cold["share_of_copy"]:.0%} of a copy')
with open(path, "w") as file:
    json.dump(result, file, indent=2)
    file.write("\n")
P
