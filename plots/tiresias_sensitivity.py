#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sensitivity of Tiresias to thresholds, number of queues and PROMOTEKNOB.

Gu et al., NSDI 2019, section 5.3."""

import style
from style import plt
from tiresias_common import NAMES

BASE = "3250"  # GPU-s, where the other two panels have their first threshold


def draw(paths, folder):
    with style.open_results(paths[0]) as f:
        table = style.points(f)
    table = table.rename(columns={"scheduler.name": "policy", "scheduler.queue_limits": "limits",
                                  "scheduler.promote_knob": "knob"})
    table["limits"] = table.limits.astype(str)
    table["queues"] = table.limits.str.count(",") + 2
    table["jct_h"] = table.jct_mean_s / 3600

    fig, axes = plt.subplots(1, 4, figsize=(style.PAGE, 2.1), layout="constrained")
    for i, (policy, t) in enumerate(table.groupby("policy", sort=False)):
        name = NAMES.get(policy, policy)
        look = {"marker": "osv"[i], "markersize": 3, "label": name}
        two = t[(t.queues == 2) & (t.knob == 0)].copy()
        two["limit"] = two.limits.astype(float)
        two = two.sort_values("limit")
        axes[0].plot(two.limit, two.jct_h, **look)
        many = t[(t.knob == 0) & ((t.queues > 2) | (t.limits == BASE))].sort_values("queues")
        axes[1].plot(many.queues, many.jct_h, **look)
        knob = t[t.limits == BASE].copy()
        knob["at"] = knob.knob.where(knob.knob > 0, 2 * knob.knob.max())  # 0 means never: drawn at the end
        knob = knob.sort_values("at")
        axes[2].plot(knob["at"], knob.jct_h, **look)
        axes[3].plot(knob["at"], knob.jct_max_s / 86400, **look)
        for what, values, published in (
                ("threshold of two queues", two, {"dlas-gpu": "improves, then flat", "gittins": "insensitive"}),
                ("number of queues", many, {"dlas-gpu": "little beyond 2", "gittins": "little beyond 2"})):
            style.row(f"{NAMES.get(policy, policy)}, {what}: highest over lowest average JCT", published.get(policy, "-"),
                      f"{values.jct_h.max() / values.jct_h.min():.3f}")
        style.row(f"{name}, PROMOTEKNOB {knob.knob[knob.knob > 0].min():g} against never: average, longest JCT",
                  "longer, shorter", f"{knob.jct_h.iloc[0] / knob.jct_h.iloc[-1]:.3f}, "
                  f"{knob.jct_max_s.iloc[0] / knob.jct_max_s.iloc[-1]:.3f}")
    axes[0].set(xscale="log", xlabel="threshold (GPU-s)", ylabel="average JCT (h)")
    axes[1].set(xlabel="queues", xticks=sorted(many.queues))
    for ax in axes[2:]:
        ax.set(xscale="log", xlabel="PROMOTEKNOB")
        ax.set_xticks(knob["at"], [f"{k:g}" if k > 0 else "never" for k in knob.knob])
        ax.minorticks_off()
    axes[3].set(ylabel="longest JCT (days)")
    for ax in axes[:3]:
        ax.set_ylim(0, 1.15 * table.jct_h.max())
    axes[3].set_ylim(0, None)
    axes[0].legend(loc="lower right")
    style.save(fig, folder, "tiresias_sensitivity")


if __name__ == "__main__":
    raise SystemExit(style.main(draw, __doc__))
