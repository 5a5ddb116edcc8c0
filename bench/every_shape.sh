#!/usr/bin/env bash
# Measures the kernels that a portfolio serves at N shapes that nobody tuned, drawn log-uniformly (16 to 12,000 per
# extent). It compares the loss against the fastest known time with the losses of "nearest" and "one for all", and gives
# the ratios to cuBLAS and the best of cublasLt.
# Usage: bench/every_shape.sh PROGRAM DEVICE OUTPUT.json [SEED [N]]
# 200 shapes on an H200 with 16 cores: about 4 minutes for the losses, 3 for the ratios. The environment may set:
#   DATABASE   holds the portfolio; by default it is built first, which takes ten minutes
#   PARTS      "loss ratio" by default: which of the two to measure
#   LAYOUT     nn by default
#   TEMPLATES  as for --templates; all by default
#   SEARCHES   60 by default: this many of the shapes are also searched, EVALUATIONS (64) configurations each
#   BUDGET     of the searches; 200s by default
#   BUILD      options for building the portfolio
#   BENCH      options for the ratios; "--cache cold --pairs 6 --proposals 16" by default
#   COMMIT     the commit to record; the one checked out by default
set -euo pipefail
program=$1 device=$2 output=$3 seed=${4:-1001} count=${5:-200}
layout=${LAYOUT:-nn}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export COMMIT=${COMMIT:-$(git -C "$(dirname "$0")" rev-parse --short HEAD)}
common=(--device "$device" --layout "$layout" --templates "${TEMPLATES:-}")

if [ -z "${DATABASE:-}" ]; then
    DATABASE=$scratch/tuning.db
    # shellcheck disable=SC2086  # several options
    "$program" portfolio "${common[@]}" --db "$DATABASE" ${BUILD:---shapes 200 --size 64 --budget 10m}
fi

# The searches store winners, so they get a copy. In the second part, no size may have a winner of its own.
cp "$DATABASE" "$scratch/checked.db"
for part in ${PARTS:-loss ratio}; do
    case $part in
        loss)
            "$program" portfolio "${common[@]}" --db "$scratch/checked.db" --check "$count" --seed "$seed" \
                --searches "${SEARCHES:-60}" --evaluations "${EVALUATIONS:-64}" --budget "${BUDGET:-200s}" \
                --json >"$scratch/loss.json" || [ -s "$scratch/loss.json" ] ;;
        ratio)
            # shellcheck disable=SC2086  # several options
            "$program" bench "${common[@]}" --db "$DATABASE" --served --shapes "$count" --seed "$seed" \
                ${BENCH:---cache cold --pairs 6 --proposals 16} --json "$scratch/ratio.json" ||
                [ -s "$scratch/ratio.json" ] ;;
        *) echo "PARTS: there is no part '$part'; write loss, ratio or both" >&2 && exit 2 ;;
    esac
done
{
    printf '{"benchmark": "every_shape", "commit": "%s", "date": "%s", "seed": %s, "shapes": %s, "layout": "%s"' \
        "$COMMIT" "$(date -u +%F)" "$seed" "$count" "$layout"
    for part in loss ratio; do
        if [ -f "$scratch/$part.json" ]; then printf ',\n"%s": %s' "$part" "$(cat "$scratch/$part.json")"; fi
    done
    printf '}\n'
} >"$output"
