#!/usr/bin/env bash
# Measures the kernels that the runtime chooses from a portfolio, for N shapes that nobody tuned. The shapes are drawn
# log-uniformly, with 16 to 12,000 per extent. The script measures the kernels' losses against the fastest known times,
# and the losses of kernels that two simpler rules choose, "nearest" and "one for all". It also measures the ratios to
# cuBLAS and to the best of cublasLt's proposals.
# Usage: bench/every_shape.sh PROGRAM DEVICE OUTPUT.json [SEED [N]]
# 200 shapes on an H200 with 16 cores take about 4 minutes for the losses and 3 for the ratios. The environment may set:
#   DATABASE   a database with the portfolio; without it, the script first builds a portfolio, which takes ten minutes
#   PARTS      what to measure: "loss", "ratio" or, by default, "loss ratio"
#   TYPE       the type of the elements; f32 by default
#   LAYOUT     nn by default
#   TEMPLATES  the templates, as for --templates; all by default
#   SEARCHES   the number of shapes that are also searched, 60 by default, with EVALUATIONS (64) configurations each
#   BUDGET     the time for all searches; 200s by default
#   BUILD      options for building the portfolio
#   BENCH      options for the ratios; "--cache cold --pairs 6 --proposals 16" by default
#   COMMIT     the commit to record; by default, the one that is checked out
set -euo pipefail
program=$1 device=$2 output=$3 seed=${4:-1001} count=${5:-200}
type=${TYPE:-f32} layout=${LAYOUT:-nn}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export COMMIT=${COMMIT:-$(git -C "$(dirname "$0")" rev-parse --short HEAD)}
common=(--device "$device" --type "$type" --layout "$layout" --templates "${TEMPLATES:-}")

if [ -z "${DATABASE:-}" ]; then
    DATABASE=$scratch/tuning.db
    # shellcheck disable=SC2086  # several options
    "$program" portfolio "${common[@]}" --db "$DATABASE" ${BUILD:---shapes 200 --size 64 --budget 10m}
fi

# The searches for the losses store winners, so they use a copy of the database. The ratios need a database without
# winners, because a size with its own winner would not use the portfolio.
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
    printf '{"benchmark": "every_shape", "commit": "%s", "date": "%s", "seed": %s, "shapes": %s, "type": "%s", "layout": "%s"' \
        "$COMMIT" "$(date -u +%F)" "$seed" "$count" "$type" "$layout"
    for part in loss ratio; do
        if [ -f "$scratch/$part.json" ]; then printf ',\n"%s": %s' "$part" "$(cat "$scratch/$part.json")"; fi
    done
    printf '}\n'
} >"$output"
