#!/usr/bin/env python3
"""Measures how long a report of 50,000 trials takes: report_bench.py SMEMTUNE [TRIALS].

Needs Chromium. See bench/record.sh. The trials are those of the H200's sample database, and copies of these
with changed parameter values and times.
"""
import gzip
import json
import os
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root / "tests/tuner/page"))
from chromium import Chromium  # noqa: E402

rounds = 5


def fill(path, wanted):
    """Adds changed copies of stored trials until the database has `wanted` trials."""
    random.seed(1)
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT id, configuration, median_us FROM trials").fetchall()
        known = {}  # the values that occur in trials, by parameter
        for _, text, _ in rows:
            for part in text.split(","):
                name, value = part.split("=")
                known.setdefault(name, set()).add(int(value))
        values = {name: sorted(each) for name, each in known.items()}
        columns = [row[1] for row in connection.execute("PRAGMA table_info(trials)") if row[1] not in ("id", "configuration", "median_us")]
        rest = ", ".join(columns)
        count = len(rows)
        while count < wanted:
            trial, text, median = random.choice(rows)
            changed = []
            for part in text.split(","):
                name, value = part.split("=")
                changed.append(f"{name}={random.choice(values[name]) if random.random() < 0.7 else value}")
            count += connection.execute(
                f"INSERT OR IGNORE INTO trials (configuration, median_us, {rest}) SELECT ?, ?, {rest} FROM trials WHERE id = ?",
                (",".join(changed), median * (1 + random.random()), trial)).rowcount
    connection.close()


def main():
    smemtune, wanted = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 50000
    with tempfile.TemporaryDirectory() as folder:
        database, page = os.path.join(folder, "trials.db"), os.path.join(folder, "report.html")
        with open(database, "wb") as file:
            file.write(gzip.decompress((root / "tests/fixtures/databases/h200.db.gz").read_bytes()))
        fill(database, wanted)
        built = []
        for _ in range(rounds):
            begin = time.monotonic()
            subprocess.run([smemtune, "report", page, "--db", database], check=True, stdout=subprocess.DEVNULL)
            built.append(time.monotonic() - begin)
        interactive, complete = [], []
        with Chromium() as browser:
            browser.show(1280, 900, False)
            for number in range(rounds):
                browser.open(f"file://{page}?{number}", "document.documentElement.dataset.state === 'complete'")
                interactive.append(browser.script("performance.getEntriesByName('interactive')[0].startTime") / 1e3)
                complete.append(browser.script("performance.getEntriesByName('complete')[0].startTime") / 1e3)
        def two(seconds):
            return [round(min(seconds), 2), round(statistics.median(seconds), 2)]
        print(f'  "rounds": {rounds}, "seconds": "least and median of the rounds", "trials": {wanted}, "page_bytes": {os.path.getsize(page)},')
        print(f'  "built": {json.dumps(two(built))}, "interactive": {json.dumps(two(interactive))}, "all_plots_drawn": {json.dumps(two(complete))}')


if __name__ == "__main__":
    main()
