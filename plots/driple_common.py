# SPDX-License-Identifier: GPL-3.0-or-later
"""What the figures of inspectors share: files of the program's answers, errors and learning curves."""

import json
import os

import h5py

from results import BadInput


def load(path, what):
    """A JSON file that `what` printed."""
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except (ValueError, UnicodeDecodeError):
        raise BadInput(f"{path}: not the output of '{what}'") from None


def errors(path):
    """The first setting of what `dlsim evaluate --json` printed."""
    try:
        return load(path, "dlsim evaluate --json")["settings"][0]
    except (IndexError, TypeError):
        raise BadInput(f"{path}: not the output of 'dlsim evaluate --json'") from None


def curve(path):
    """The best validation loss so far, by epoch, of the training whose errors are in `path`."""
    with h5py.File(os.path.splitext(path)[0] + ".curves.h5", "r") as f:
        return next(iter(f.values()))["best_loss"][:]
