# SPDX-License-Identifier: GPL-3.0-or-later
"""What the figures of trained inspectors share: errors and training times."""

import json
import os

import h5py

from results import BadInput


def errors(path):
    """The first setting of what `dlsim evaluate --json` printed."""
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)["settings"][0]
    except (ValueError, UnicodeDecodeError, IndexError, TypeError):
        raise BadInput(f"{path}: not the output of 'dlsim evaluate --json'") from None


def seconds(path):
    """Time that training took, from the curves beside the errors."""
    curves = os.path.splitext(path)[0] + ".curves.h5"
    with h5py.File(curves, "r") as f:
        return sum(float(g["seconds"][-1]) for g in f.values())
