#!/usr/bin/env python3
"""Tunes with two versions in turn (old, new, new, old), each time from an empty database.

    sweep_versions.py OLD NEW OLD_TEMPLATES OUTPUT.json [--device 0] [--limit 100] [--parts a,b] [--sizes-a S]
                      [--sizes-b S] [--evaluations N]

OLD and NEW are programs. OLD_TEMPLATES is a folder with the old version's warp_tiled and the headers that it includes.
Part a searches seven teaching kernels exhaustively. Both versions have these kernels, so they try the same
configurations. In part b, the default search makes 60 evaluations of warp_tiled at each size. Both versions tune the
sources of the old version's warp_tiled.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

TEACHING = "naive,row_tile,row_column_tile,tiled,strip_tiled,rectangular_tiled,joint_tiled"

parser = argparse.ArgumentParser()
for name in ("old", "new", "templates", "output"):
    parser.add_argument(name)
parser.add_argument("--device", default="0")
parser.add_argument("--limit", type=float, default=100, help="seconds; no run starts that would pass them")
parser.add_argument("--parts", default="a,b")
parser.add_argument("--sizes-a", default="512,1024")
parser.add_argument("--sizes-b", default="512..2048")
parser.add_argument("--evaluations", default="60")
options = parser.parse_args()

PARTS = {"a": ["--templates", TEACHING, "--sizes", options.sizes_a, "--search", "exhaustive"],
         "b": ["--templates", options.templates, "--sizes", options.sizes_b, "--evaluations", options.evaluations]}
begin = time.perf_counter()


def tune(part, version):
    with tempfile.TemporaryDirectory() as scratch:
        command = [getattr(options, version), "tune", "--device", options.device, *PARTS[part],
                   "--db", os.path.join(scratch, "t.db"), "--json"]
        with open(os.path.join(scratch, "out"), "w+") as out, open(os.path.join(scratch, "err"), "w+") as err:
            started = time.perf_counter()
            child = subprocess.Popen(command, stdout=out, stderr=err)
            # `usage` includes the workers, because the program waits for their end.
            _, status, usage = os.wait4(child.pid, 0)
            wall = time.perf_counter() - started
            child.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            text, errors = out.read(), err.read()
        if child.returncode != 0:
            print(f"{part} {version}: exit status {child.returncode}: {errors[-600:]}", flush=True)
            return None
    report = json.loads(text)
    tried = report["measured"] + sum(report["rejected"].values()) + report.get("same_code", 0)
    problems = report["problems"]
    effort = {key: sum(each["effort"].get(key, 0) for each in problems) for key in problems[0]["effort"]}
    winners = {}
    for each in problems:
        extents = each["problem"]["extents"]
        winners["x".join(str(extents[name]) for name in "MNK")] = {
            "us": each["winner"]["measurement"]["median_us"], "template": each["winner"]["template"],
            "configuration": each["winner"]["configuration"]}
    return {"part": part, "version": version, "wall": wall, "processor": usage.ru_utime + usage.ru_stime, "tried": tried,
            "measured": report["measured"], "rejected": report["rejected"], "same_code": report.get("same_code", 0),
            "evaluations": [each.get("evaluations") for each in problems], "effort": effort,
            "workers": report.get("workers"), "winners": winners}


runs, longest = [], {}
for part in options.parts.split(","):
    print(f"part {part}: tune {' '.join(PARTS[part])}", flush=True)
    for version in ("old", "new", "new", "old"):
        if time.perf_counter() - begin + 1.1 * longest.get(part, 0) > options.limit:
            print(f"{part} {version}: left out, it would pass {options.limit:.0f} s", flush=True)
            continue
        run = tune(part, version)
        if run is None:
            continue
        longest[part] = max(longest.get(part, 0), run["wall"])
        runs.append(run)
        e = run["effort"]
        print(f"{part} {version}: {run['wall']:6.2f} s wall, {run['processor']:7.1f} s processor, {run['tried']} tried"
              f" ({run['measured']} measured), {1000 * run['wall'] / max(1, run['tried']):.1f} ms wall and"
              f" {1000 * run['processor'] / max(1, run['tried']):.0f} ms processor each;"
              f" compile {e.get('compile_seconds', 0):.1f} verify {e.get('verify_seconds', 0):.2f}"
              f" time {e.get('time_seconds', 0):.2f} finals {e.get('finals_seconds', 0):.2f} s; us "
              + " ".join(f"{each['us']:.2f}" for each in run["winners"].values()), flush=True)
        with open(options.output, "w") as file:
            json.dump({"benchmark": "sweep_before_after", "cores": os.cpu_count(), "parts": PARTS, "runs": runs}, file, indent=1)

print("\nnew / old, means of the runs:  wall  processor  wall per configuration  processor per configuration")
for part in options.parts.split(","):
    mean = {}
    for version in ("old", "new"):
        mine = [run for run in runs if run["part"] == part and run["version"] == version]
        if mine:
            mean[version] = [statistics.mean(f(run) for run in mine) for f in
                             (lambda r: r["wall"], lambda r: r["processor"], lambda r: r["wall"] / r["tried"],
                              lambda r: r["processor"] / r["tried"])]
    if len(mean) == 2:
        print(f"part {part}:  " + "  ".join(f"{b / a:.3f}" for a, b in zip(mean["old"], mean["new"])))
print(f"{time.perf_counter() - begin:.0f} s in all")
sys.exit(0 if runs else 1)
