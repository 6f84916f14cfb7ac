#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rates and uplinks that fitted nothing, on a machine of their own: the operator model fitted to the other settings there.

    rates.py RUNS.jsonl[.gz] GRAPHS FOLDER

The model is fitted to jobs of one worker, and of two at 200 Mb/s, of families other than the one it is asked about;
it is asked about jobs at 100 Mb/s. Of a shared uplink there is what it changes, job by job.
"""
import contextlib
import io
import os
import sys

import labels
import study

FIT = ("w1", "w2-ar-200m", "p1w2-ps-200m")
JUDGED = {"w2-ar-100m": ("--network=eth100m", "--buckets"), "p1w2-ps-100m": ("--network=eth100m", "--servers=1", "--apart")}
SHARED = {"p1w2-ps-200m": "p1w2-ps-200m-shared", "p2w2-ps-200m": "p2w2-ps-200m-shared"}


def table_of(runs, folder):
    """The runs as a table of labels, and its rows."""
    path, argv = os.path.join(folder, "rates.csv"), sys.argv
    with open(path, "w") as f, contextlib.redirect_stdout(f):
        sys.argv = ["labels.py", runs]
        labels.main()
    sys.argv = argv
    return study.read(path)


def at_other_rates(rows, graphs, folder):
    fit, found = [r for r in rows if r["setting"] in FIT], {}
    parts = study.part_of(fit)
    for r in rows:
        if r["setting"] in FIT or r["setting"] in JUDGED:
            words = [f"--constants={study.fitted_to(fit, graphs, folder, parts[r['family']])}"]
            if r["setting"] != "w1":
                words.append("--like=jobs-servers" if "-ps-" in r["setting"] else "--like=jobs-allreduce")
            said = study.series_of(r, study.imported(graphs, folder, r), folder, *words)
            found[r["setting"], r["network"], int(r["batch"])] = {what: (study.value(r, what), said[what]) for _, what in study.WHAT
                                                                  if what in said}
    study.table("setting", "fits", *(f"{name}: model / recorded, median; error" for name, _ in study.WHAT))
    for setting in (*FIT, *JUDGED):
        jobs = [m for key, m in found.items() if key[0] == setting]
        study.row(setting, "other families" if setting in FIT else "nothing", *(study.agreement(jobs, what) for _, what in study.WHAT))


def behind_one_uplink(rows):
    of = {(r["setting"], r["network"], r["batch"]): r for r in rows}
    study.table("one uplink for both workers / a link each, median (10 %, 90 %)", "jobs", *(name for name, _ in study.WHAT))
    for alone, shared in SHARED.items():
        pairs = [(r, of[shared, *key[1:]]) for key, r in of.items() if key[0] == alone and (shared, *key[1:]) in of]
        cells = []
        for _, what in study.WHAT:
            ratio = sorted(study.value(b, what) / study.value(a, what) for a, b in pairs if study.value(a, what) > 0)
            n = len(ratio)
            cells.append(f"{study.median(ratio):.2f} ({ratio[n // 10]:.2f}, {ratio[-1 - n // 10]:.2f})")
        study.row(shared, len(pairs), *cells)


def main(runs, graphs, folder):
    os.makedirs(folder, exist_ok=True)
    rows = table_of(runs, folder)
    study.WORDS.update({setting: (*study.WORKERS, *words) for setting, words in JUDGED.items()})
    at_other_rates(rows, graphs, folder)
    print()
    behind_one_uplink(rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
