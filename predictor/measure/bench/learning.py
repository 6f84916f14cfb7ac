#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How inspectors of the measured data set learn: error against training graphs and against time, and what each base is worth.

    learning.py LABELS.csv GRAPHS FOLDER

Families left out in five parts, recipe and errors of study.py, whose FOLDER this is. Inspectors of the settings TARGETS.
"""
import os
import sys

from study import ARCH, FOLDS, GROUPS, SHIPPED, errors, fold_set, read, row, table, train_one

SHARES = (0.25, 0.5, 1)  # of the training graphs
EPOCHS = (15, 60, 150)
WHERE = (0, 2, 3)  # of study.WHAT: step, pause and burst of sending
TARGETS = ("w2-ar-1g", "p1w2-ps-200m")
BASE = "w2-ar-200m"


def cell(found, seconds):
    off = errors(found)
    return f"{', '.join(off[i] for i in WHERE)}; {seconds:.0f} s"


def trained(of, how, share=1, epochs=60):
    """How: "scratch", the name of a setting whose inspector is the base, or "shipped": errors and seconds."""
    folder, found, spent = of[2], {}, 0
    for fold in range(FOLDS):
        dataset = fold_set(of, "shipped-family", fold, f"--weights={SHIPPED}", "--split=family") if how == "shipped" else fold_set(
            of, "d", fold, *GROUPS)
        for s in TARGETS:
            words = {"scratch": (ARCH,), "shipped": (f"--base={SHIPPED}", "--transfer")}.get(
                how, (f"--base={folder}/own-{how}.{fold}.h5", "--transfer"))
            if how == s:
                continue
            got, took = train_one(dataset, f"{folder}/learn-{how}-{share}-{epochs}-{s}.{fold}.h5", f"--setting={s}", f"--epochs={epochs}",
                                  f"--share={share}", *words)
            found.update({k: v for k, v in got.items() if k[0] == s})
            spent += took
    return found, spent


def main(*of):
    os.makedirs(of[2], exist_ok=True)
    settings = sorted({r["setting"] for r in read(of[0])})
    for fold in range(FOLDS):  # the bases: study.py train makes the same
        for s in settings:
            train_one(fold_set(of, "d", fold, *GROUPS), f"{of[2]}/own-{s}.{fold}.h5", f"--setting={s}", ARCH, "--epochs=150")
    rows = (("from scratch", "scratch"), (f"tuned from {BASE}'s", BASE), ("tuned from the shipped one", "shipped"))
    table("step, pause, burst; training", *(f"{100 * share:.0f} % of the graphs, 60 epochs" for share in SHARES))
    for name, how in rows:
        row(name, *(cell(*trained(of, how, share)) for share in SHARES))
    print()
    table("step, pause, burst; training", *(f"{epochs} epochs" for epochs in EPOCHS))
    for name, how in rows:
        row(name, *(cell(*trained(of, how, epochs=epochs)) for epochs in EPOCHS))
    print()
    table("step, pause, burst; training", "60 epochs")
    for s in settings:
        row(f"tuned from {s}'s", cell(*trained(of, s)))


if __name__ == "__main__":
    main(*sys.argv[1:])
