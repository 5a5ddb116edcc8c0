#!/usr/bin/env bash
# Runs a benchmark and writes its output to a file, with the commit and the date.
# Usage: bench/record.sh NAME OUTPUT.json PROGRAM [ARGUMENT...]
set -euo pipefail
name=$1 output=$2
shift 2
commit=${COMMIT:-$(git -C "$(dirname "$0")" rev-parse --short HEAD)}
{
    printf '{"benchmark": "%s", "commit": "%s", "date": "%s",\n' "$name" "$commit" "$(date -u +%F)"
    "$@"
    echo '}'
} >"$output"
cat "$output"
