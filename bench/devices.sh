#!/usr/bin/env bash
# Measures the gain from a second equal GPU. The script tunes the teaching kernels alternately on one GPU and on both:
# ROUNDS (3) times with the default search and once exhaustively. Each run starts with an empty database. In one more
# run on both GPUs, the script kills a worker after KILL_AFTER seconds.
# Usage: bench/devices.sh PROGRAM ONE BOTH OUTPUT.json [SIZES] [ROUNDS], for example: ... 0 0,1 devices.json
# The environment may set:
#   KILL_AFTER  the seconds until the worker is killed (5)
#   EXHAUSTIVE  0 leaves out the exhaustive runs, which take longest
#   COMMIT      the commit to record; by default, the one that is checked out
set -eu
program=$1 one=$2 both=$3 output=$4 sizes=${5:-512..8192} rounds=${6:-3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
teaching=naive,row_tile,row_column_tile,tiled,strip_tiled,rectangular_tiled,joint_tiled
commit=${COMMIT:-$(git -C "$(dirname "$0")" rev-parse --short HEAD)}

runs=0
# tuned DEVICES SEARCH: tunes once and prints the report as JSON.
tuned() {
    runs=$((runs + 1))
    "$program" --device "$1" --templates "$teaching" --sizes "$sizes" --search "$2" --db "$scratch/$runs.db" --json \
        >"$scratch/report.json"
    printf '{"devices": "%s", "search": "%s", "report": ' "$1" "$2"
    grep -v '^  "database": ' "$scratch/report.json"
    printf '}'
}
comma=
listed() {
    printf '%s' "$comma"
    tuned "$@"
    comma=$',\n'
}
{
    printf '{"benchmark": "devices", "commit": "%s", "date": "%s",\n' "$commit" "$(date -u +%F)"
    printf '"driver": "%s",\n' "$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)"
    printf '"cores": %s,\n"runs": [\n' "$(nproc)"
    for _ in $(seq "$rounds"); do
        listed "$one" auto
        listed "$both" auto
    done
    if [ "${EXHAUSTIVE:-1}" != 0 ]; then
        listed "$one" exhaustive
        listed "$both" exhaustive
    fi
    printf '],\n"one_worker_killed": '
    (
        sleep "${KILL_AFTER:-5}"
        run=$(pgrep --newest --full -- "^$program --device $both ")
        # A worker's command line names /proc/self/exe instead of the program, so the worker is found by its parent
        # process.
        pkill --signal KILL --newest --full --parent "$run" -- ' worker ' && touch "$scratch/killed"
    ) &
    tuned "$both" auto
    wait
    printf '}\n'
} >"$output"
if [ ! -e "$scratch/killed" ]; then
    echo "$0: no worker was running after ${KILL_AFTER:-5} s, so none was killed; set KILL_AFTER to another time" >&2
    exit 1
fi
