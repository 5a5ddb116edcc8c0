#!/usr/bin/env python3
"""Tunes every kernel of examples/others on a GPU, at its original size and with few evaluations.

    others.py SMEMTUNE EXAMPLES OUTPUT.json [--device D] [--evaluations N]

EXAMPLES is the folder examples/others, after its ./fetch has run. The output has the winner of each kernel, or what
went wrong.
"""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.strip()


def tuned(options, example, database):
    command = [options.smemtune, "tune", "--device", options.device, "--templates", str(options.examples / example["folder"]),
               "--sizes", example["sizes"], "--evaluations", str(options.evaluations), "--budget", "12s", "--db", database,
               "--json"]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        return {"failed": result.stderr}
    report = json.loads(result.stdout)
    found = {key: report[key] for key in ("seconds", "ended", "measured", "rejected", "reasons")}
    winner = report["problems"][0].get("winner")
    if winner:
        found |= {"winner": winner["configuration"], "us": winner["measurement"]["median_us"]}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("smemtune")
    parser.add_argument("examples", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--device", default="0")
    parser.add_argument("--evaluations", type=int, default=12)
    options = parser.parse_args()
    here = str(pathlib.Path(__file__).resolve().parent)
    gpu, driver = output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").splitlines()[0].split(", ")
    record = {"benchmark": "others", "commit": os.environ.get("COMMIT") or output_of("git", "-C", here, "rev-parse", "--short", "HEAD"),
              "date": datetime.date.today().isoformat(), "device": gpu, "driver": driver, "evaluations": options.evaluations,
              "kernels": {}}
    with tempfile.TemporaryDirectory() as scratch:
        for example in json.loads((options.examples / "sources.json").read_text())["examples"]:
            record["kernels"][example["folder"]] = tuned(options, example, os.path.join(scratch, "t.db"))
    options.output.write_text(json.dumps(record, indent=1) + "\n")
    without = [name for name, found in record["kernels"].items() if "winner" not in found]
    print(f"{len(record['kernels']) - len(without)} of {len(record['kernels'])} have a winner")
    sys.exit(f"without: {', '.join(without)}" if without else 0)


if __name__ == "__main__":
    main()
