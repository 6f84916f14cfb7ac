# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of the package share."""

import importlib.util
import unittest

import dlsim

SMALL = "quickstart"
TIGHT = {"nodes": [{"count": 4, "gpus": 8, "gpu_type": "V100"}]}


def needs(*names):
    """Skips a test, saying why, where a package is not installed."""
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


def jobs(n=200, seed=1):
    """A trace that competes for TIGHT: gangs of 1 to 8."""
    table = {"num_gpu": [], "submit_time": [], "duration": []}
    t = 0
    for _ in range(n):
        seed = (seed * 1664525 + 1013904223) % 2**32
        t += (seed >> 8) % 40
        table["num_gpu"].append(1 << (seed >> 20) % 4)
        table["submit_time"].append(t)
        table["duration"].append(1 + (seed >> 12) % 500)
    return table


class Srtf:
    """shortest remaining time first"""

    ageing = "time"

    def priority(self, job):
        return job.remaining


def run(policy, trace=None, **options):
    return dlsim.run(TIGHT, trace or jobs(), policy, "first-fit", **options)
