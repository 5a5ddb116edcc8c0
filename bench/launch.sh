#!/usr/bin/env bash
# The cost of smemtune beside the CUDA driver, with provenance: bench/launch.sh LAUNCH_BENCH DEVICE OUTPUT.json
set -euo pipefail
program=$1 device=$2 output=$3
commit=${COMMIT:-$(git -C "$(dirname "$0")" rev-parse --short HEAD)}
{
    printf '{"benchmark": "launch", "commit": "%s", "date": "%s",\n' "$commit" "$(date -u +%F)"
    echo '  "figures": "median and its 95 % confidence interval; of a warm fetch: least and median of 7",'
    "$program" "$device"
    echo '}'
} >"$output"
cat "$output"
