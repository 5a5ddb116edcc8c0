#!/usr/bin/env python3
"""Tunes the kernels of examples/others on the host device, and checks all of them for sm_90.

    others_test.py SMEMTUNE EXAMPLES

Exit code 77: examples/others/fetch has not been run. Kernels without `host_sizes` are for GPUs alone.
"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1200)
    return result.returncode, result.stdout


def tune(smemtune, folder, sizes, database):
    """Returns what is wrong with a short tuning run on the host device, or an empty text."""
    code, output = run(smemtune, "--device", "host", "--templates", folder, "--sizes", sizes, "--evaluations", "2",
                       "--db", database, "--json")
    if code != 0:
        return output
    report = json.loads(output)
    return "" if not report["rejected"] and "winner" in report["problems"][0] else json.dumps(report["reasons"])


def check(smemtune, folder, sizes):
    """Returns what is wrong with any value of the parameters for sm_90, or an empty text."""
    code, output = run(smemtune, "check", folder, "--device", "sm_90", "--sizes", sizes)
    return "" if code == 0 else output


def explain(smemtune, folder, sizes):
    """Returns what is wrong with the default configuration for sm_90, or an empty text."""
    name = os.path.basename(folder)
    code, output = run(smemtune, "explain", name, "--templates", folder, "--device", "sm_90", "--sizes", sizes)
    return "" if code == 0 else output


def tried(smemtune, folder, example):
    # `check` tries every value, which takes a minute for the examples marked slow. For these examples, `explain` tries
    # only the default configuration, unless SMEMTUNE_SLOW_EXAMPLES is set.
    judge = explain if example.get("slow") and "SMEMTUNE_SLOW_EXAMPLES" not in os.environ else check
    with tempfile.TemporaryDirectory() as scratch:
        wrong = judge(smemtune, folder, example["sizes"])
        if not wrong and "host_sizes" in example:
            wrong = tune(smemtune, folder, example["host_sizes"], os.path.join(scratch, "t.db"))
    return wrong


def main():
    smemtune, examples = sys.argv[1], pathlib.Path(sys.argv[2])
    found = json.loads((examples / "sources.json").read_text())["examples"]
    missing = [each["folder"] for each in found if not all(
        (examples / each["folder"] / file.get("as", pathlib.PurePosixPath(file["path"]).name)).exists()
        for file in each["files"])]
    if missing:
        print(f"not fetched: {' '.join(missing)}; run {examples}/fetch")
        return SKIPPED
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda each: tried(smemtune, str(examples / each["folder"]), each), found)
        for example, wrong in zip(found, results):
            print(f"{example['folder']}: {wrong or 'ok'}")
            failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
