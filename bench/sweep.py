#!/usr/bin/env python3
"""Tunes the default sizes from an empty database and compares the winners with cuBLAS.

    sweep.py PROGRAM DEVICE OUTPUT.json [--sizes S] [--type T] [--pairs N]

Needs a GPU that nobody else uses. The environment variable COMMIT names the commit to record. By default, it is the
commit that is checked out.
"""
import argparse
import datetime
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("device")
parser.add_argument("output", type=pathlib.Path)
parser.add_argument("--sizes", default="512..8192")
parser.add_argument("--type", default="f32")
parser.add_argument("--pairs", default="10")
options = parser.parse_args()

HERE = pathlib.Path(__file__).resolve().parent
commit = os.environ.get("COMMIT") or subprocess.check_output(
    ["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"], text=True).strip()
with tempfile.TemporaryDirectory() as scratch:
    database = os.path.join(scratch, "sweep.db")
    command = [options.program, "tune", "--device", options.device, "--sizes", options.sizes, "--type", options.type,
               "--db", database, "--json"]
    begin = time.perf_counter()
    report = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    seconds = time.perf_counter() - begin
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    comparison = pathlib.Path(scratch) / "bench.json"
    subprocess.run([options.program, "bench", "--device", options.device, "--db", database, "--type", options.type,
                    "--against", "cublas,cublaslt", "--cache", "cold", "--pairs", options.pairs, "--json",
                    str(comparison)], check=True, stdout=sys.stderr)
    bench = json.loads(comparison.read_text())

record = {
    "benchmark": "sweep", "commit": commit, "date": datetime.date.today().isoformat(),
    "device": bench["device"]["name"], "platform": bench.get("platform", ""), "cores": os.cpu_count(),
    "command": f"smemtune tune --device {options.device} --sizes {options.sizes} --type {options.type} --db EMPTY",
    "seconds": round(seconds, 1), "processor_seconds": round(used.ru_utime + used.ru_stime),
    "configurations_measured": report["measured"],
    "sizes": [{"size": each["problem"]["size"], "tried": each["evaluations"],
               "median_us": each["winner"]["measurement"]["median_us"],
               **{name: round(value, 2) for name, value in each["effort"].items()}} for each in report["problems"]],
    "against": [{"size": each["problem"]["size"],
                 **{name: {"ratio": round(found["ratio"], 4), "interval": [round(x, 4) for x in found["interval"]]}
                    for name, found in each["caches"]["cold"]["against"].items()}} for each in bench["problems"]],
}
options.output.write_text(json.dumps(record, indent=1) + "\n")
print(f"{seconds:.1f} s, {report['measured']} configurations")
