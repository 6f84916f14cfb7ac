# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Tiresias figures share: names of the policies as the paper has them, runs by policy."""

import style

NAMES = {"fifo": "YARN-CS (FIFO)", "srtf": "SRTF", "gandiva": "Gandiva", "gittins": "Tiresias-G",
         "dlas-gpu": "Tiresias-L"}


def runs(path):
    """(policy, run) of a merged sweep over schedulers, in the order of its points."""
    with style.open_results(path) as f:
        for p in style.points(f).itertuples():
            run = f[f"runs/{p.run}"]
            yield style.text(run.attrs["scheduler"]), run


def look(policy):
    """Line of a policy: the two forms of Tiresias often coincide."""
    return {"label": NAMES.get(policy, policy), "linestyle": "--" if policy == "dlas-gpu" else "-"}
