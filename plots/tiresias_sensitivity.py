#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sensitivity of Tiresias to thresholds and to the number of queues.

Gu et al., NSDI 2019, section 5.3."""

import style
from style import plt
from tiresias_common import NAMES

BASE = "3250"  # GPU-s, the first threshold of several queues


def draw(paths, folder):
    with style.open_results(paths[0]) as f:
        table = style.points(f)
    table = table.rename(columns={"scheduler.name": "policy", "scheduler.queue_limits": "limits"})
    table["limits"] = table.limits.astype(str)
    table["queues"] = table.limits.str.count(",") + 2
    table["jct_h"] = table.jct_mean_s / 3600

    fig, axes = plt.subplots(1, 2, figsize=(style.PAGE, 2.1), layout="constrained")
    for i, (policy, t) in enumerate(table.groupby("policy", sort=False)):
        name = NAMES.get(policy, policy)
        look = {"marker": "osv"[i], "markersize": 3, "linestyle": ("-", "--", ":")[i], "label": name}
        two = t[t.queues == 2].copy()
        two["limit"] = two.limits.astype(float)
        two = two.sort_values("limit")
        axes[0].plot(two.limit, two.jct_h, **look)
        many = t[(t.queues > 2) | (t.limits == BASE)].sort_values("queues")
        axes[1].plot(many.queues, many.jct_h, **look)
        for what, values, published in (
                ("threshold of two queues", two, {"dlas-gpu": "improves, then flat", "gittins": "insensitive"}),
                ("number of queues", many, {"dlas-gpu": "little beyond 2", "gittins": "little beyond 2"})):
            style.row(f"{name}, {what}: highest over lowest average JCT", published.get(policy, "-"),
                      f"{values.jct_h.max() / values.jct_h.min():.3f}")
    axes[0].set(xscale="log", xlabel="threshold (GPU-s)", ylabel="average JCT (h)")
    axes[1].set(xlabel="queues", xticks=sorted(many.queues))
    for ax in axes:
        ax.set_ylim(0, 1.15 * table.jct_h.max())
    axes[0].legend(loc="lower right")
    style.save(fig, folder, "tiresias_sensitivity")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__))
