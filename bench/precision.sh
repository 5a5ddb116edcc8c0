#!/usr/bin/env bash
# Measures for several K how much of the error bound each template uses, and whether the checks detect a kernel that
# computes in lower precision. Usage: bench/precision.sh SMEMTUNE DEVICE OUTPUT.json
set -euo pipefail
program=$1 device=$2 output=$3
commit=${COMMIT:-$(git -C "$(dirname "$0")" rev-parse --short HEAD)}
folder=$(cd "$(dirname "$0")" && pwd)/precision
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
depths=(16 64 256 1024 4096 16384 65536)

error_of() { "$program" run --device "$device" --sizes "$1" --templates "$2" --db "$scratch/none.db" --json 2>/dev/null |
    sed -n 's/^ *"worst_error": *\([0-9.e+-]*\).*/\1/p'; }

{
    printf '{"benchmark": "precision", "commit": "%s", "date": "%s",\n' "$commit" "$(date -u +%F)"
    printf '"driver": "%s",\n' "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)"
    "$program" devices --json | python3 -c \
        'import json, sys; print("\"device\": \"%s\"," % json.load(sys.stdin)["devices"][0]["device"]["name"])'
    echo '  "share_of_the_bound": {'
    for template in naive row_column_tile tiled joint_tiled thread_tiled warp_tiled; do
        row=
        for k in "${depths[@]}"; do row+="\"$k\": $(error_of "32x32x$k" $template), "; done
        printf '    "%s": {%s}%s\n' $template "${row%, }" "$([ $template = warp_tiled ] || echo ,)"
    done
    echo '  },'
    sizes=$(printf '32x32x%s,' "${depths[@]}")
    "$program" --device "$device" --sizes "${sizes%,}" --templates "$folder" --search exhaustive --json \
        --db "$scratch/rounded.db" 2>/dev/null >"$scratch/rounded.json" || true
    for bits in 24 11 8; do
        "$program" db trials --db "$scratch/rounded.db" --json >"$scratch/trials.json"
        python3 - "$scratch/trials.json" $bits <<'P'
import json, sys
trials = [t for t in json.load(open(sys.argv[1]))["trials"] if t["configuration"]["KEPT_BITS"] == int(sys.argv[2])]
wrong = sum(t.get("rejection", {}).get("stage") == "wrong" for t in trials)
print(f'  "kept_bits_{sys.argv[2]}": {{"tried": {len(trials)}, "wrong": {wrong}}}{"" if sys.argv[2] == "8" else ","}')
P
    done
    echo '}'
} >"$output"
cat "$output"
