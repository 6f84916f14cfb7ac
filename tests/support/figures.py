# SPDX-License-Identifier: GPL-3.0-or-later
"""figures.py PLOTS DRAWN CASES: checks the pictures of a folder.

Each line of CASES is a figure, the file below DRAWN/data that it draws, and what to change of it: a pattern
of datasets, of whose first match one number (of a table, one row) is changed, or a regular expression for a number in a text.
None may be blank; the same results must give the same bytes, one changed number another picture, and a
file of something else an error. What is drawn here is small, without axes and not laid out, which would be most of the time."""

import contextlib
import fnmatch
import glob
import importlib
import io
import os
import re
import shutil
import sys
import tempfile

import h5py
import matplotlib.image
import numpy as np

plots, drawn, cases = sys.argv[1:]
sys.path.insert(0, plots)
results = importlib.import_module("results")
style = importlib.import_module("style")


def sketch(fig, folder, name):
    fig.set_layout_engine(None)
    for ax in fig.axes:
        ax.set_axis_off()
        ax.set_title(ax.get_title(), y=1)  # else every axis is measured for where it may stand
    fig.savefig(os.path.join(folder, f"{name}.png"), dpi=50, metadata={"Software": None})
    style.plt.close(fig)


style.save = sketch
matplotlib.rcParams["axes.grid"] = False


def change(path, what):
    if not h5py.is_hdf5(path):
        with open(path) as f:
            words = f.read()
        changed = re.sub(what, lambda m: m[1] + str(3 * float(m[2])), words, count=1)
        assert changed != words, f"{path}: nothing like {what}"
        with open(path, "w") as f:
            f.write(changed)
        return
    with h5py.File(path, "r+") as f:
        names = []
        f.visit(lambda n: names.append(n) if fnmatch.fnmatch(n, what) and isinstance(f[n], h5py.Dataset) else None)
        for name in names:
            values = f[name][...]
            at = np.argwhere(values > 0)
            if len(at): # every other row: a figure need not show all of them
                rows = np.unique(at[:, 0])
                values[rows[:: 2 if len(rows) > 1 else 1]] *= 8
                f[name][...] = values
                return
        raise SystemExit(f"{path}: no number above 0 in {what}")


def bytes_of(folder, name):
    with open(os.path.join(folder, f"{name}.png"), "rb") as f:
        return f.read()


# Figures that draw many files: those, in the order of plots/NAME.run.
MANY = {"driple_transfer": ["scratch-*.json", "transfer-*.json"],
        "driple_studies": ["base-1.json", "study-conv-*.json", "study-pool-*.json"],
        "driple_series": ["seq2seq_medium.h5", "densenet40_k12.h5", "inception3.h5"],
        "driple_cases": [f"{n}-driple.json" for n in ("resnet44", "googlenet", "transformer", "server")]}


def check(name, path, what, folder):
    figure = importlib.import_module(name)
    pixels = matplotlib.image.imread(os.path.join(drawn, f"{name}.png"))[:, :, :3]
    inked = np.mean(np.any(pixels < 0.9, axis=2))
    assert pixels.std() > 0.03 and 0.005 < inked < 0.7, f"{name} is blank or smeared: {inked:.1%} inked"
    beside = os.path.join(folder, name)
    copy = os.path.join(beside, os.path.basename(path))
    if name in MANY:  # what lies beside it belongs to it: the curves of a training, the errors of others
        shutil.copytree(os.path.dirname(path), beside)
        files = [p for n in MANY[name] for p in sorted(glob.glob(os.path.join(beside, n)))]
    else:
        os.makedirs(beside)
        shutil.copy(path, copy)
        files = [copy]
    assert copy in files
    figure.draw(files, folder)
    first = bytes_of(folder, name)
    figure.draw(files, folder)
    assert bytes_of(folder, name) == first, f"{name} differs from one time to the next"
    change(copy, what)
    figure.draw(files, folder)
    assert bytes_of(folder, name) != first, f"{name} shows nothing of {what}"
    with open(copy, "w") as f:
        f.write("nothing\n")
    try:
        figure.draw([copy], folder)
    except results.BadInput as e:
        assert copy in str(e) and "\n" not in str(e), e
    else:
        raise SystemExit(f"{name} draws anything")


with open(cases) as f, tempfile.TemporaryDirectory() as folder:
    for line in f:
        name, file, what = line.split(maxsplit=2)
        with contextlib.redirect_stdout(io.StringIO()):
            check(name, os.path.join(drawn, "data", file), what.strip(), folder)
        print(f"{name}: drawn, stable, sensitive")
