#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of real jobs over one limited link, and on one processor, against what their solo profiles foretell.

    contend.py DIR            measures into DIR/pairs.jsonl (as root), goes on where it was cut
    contend.py DIR --report   the table

A job is a worker and its parameter server. "link": each worker on a processor of its own, both behind one uplink
of RATE; "shift": the same, two equal jobs, the second started half a step later; "processor": both workers on one
processor, links of their own.

Foretold: links by the law of docs/world.md (bursts that meet by chance, max-min fair) with
time(x) = time alone + bytes / x - bytes / rate; shifted bursts as if they never met where they fit; the processor by
driple-pack's knee and slope, and by time sharing (who has the processor p of the time alone has to share it while both
want it).
"""
import argparse
import json
import os
import statistics
import sys
import tempfile
import time

from bench import WARMUP, Recorder, analyze, end_line
from fleet import Death, Fleet, Problem, answers, bits_per_second

RATE = "200m"
GOODPUT = 0.956  # Ethernet's, IP's and TCP's headers are in the token bucket's rate: 1448 of 1514 bytes
KNEE, SLOPE = 0.8, 0.31
JOBS = (("resnet-0", 32), ("vgg-0", 32), ("mlp-0", 256), ("mlp-2", 128), ("lstm-0", 64), ("gpt-0", 32), ("bert-0", 64),
        ("translator-0", 32))
SECONDS = 2.5


def fleet_for(kind, log):
    """Workers first: a, b, and the servers of each."""
    link = kind != "processor"
    fleet = Fleet(("a", "b", "sa", "sb"), log, processors=(0, 1, 0, 1) if link else (0, 0, 1, 1), rack=(0, 1) if link else ())
    fleet.limit(bits_per_second(RATE))
    if link:
        for i in (2, 3):  # the uplink alone is what both need
            fleet.shape(None, f"p{i}")
            fleet.shape(None, "eth0", str(fleet.processes[i].child.pid))
    fleet.join([((0, 2), 29500), ((1, 3), 29501)])
    return fleet


def prepare(fleet, which, job):
    processes = [fleet.processes[which], fleet.processes[which + 2]]
    return fleet.everyone("prepare", processes, network=job[0], batch=job[1], exchange="ps", workers=1, servers=1, warmup=WARMUP)[0]


def alone(dlsim, fleet, which, job, path):
    said = prepare(fleet, which, job)
    processes = [fleet.processes[which], fleet.processes[which + 2]]
    recorder = Recorder(dlsim, processes[:1], path)
    try:
        times = fleet.everyone("run", processes, steps=max(8, int(SECONDS / said["step_s"])) + 2)[0]["step_ns"]
    finally:
        recorder.stop()
    began = analyze(dlsim, path, processes[0].role, 0, 0)["began_ns"]
    of = {r["resource"]: r for r in analyze(dlsim, path, processes[0].role, times[1] - began, times[-1] - began)["resources"]}
    steps = len(times) - 2
    return {"step_s": 1e-9 * (times[-1] - times[1]) / steps, "bytes": said["sent"], "use": of["cpu"]["mean"],
            "burst_s": of["net_tx"]["n_burst"] * of["net_tx"]["burst_s"] / steps}


def together(fleet, jobs, solo, delay_s):
    """Slow-down of each while both run."""
    for which, job in enumerate(jobs):
        prepare(fleet, which, job)
    for which in (0, 1):
        steps = max(8, int(1.5 * SECONDS / solo[which]["step_s"])) + 2
        for p in (fleet.processes[which], fleet.processes[which + 2]):
            p.ask(do="run", steps=steps)
        if which == 0:
            time.sleep(delay_s)
    times = [answers([fleet.processes[w], fleet.processes[w + 2]], 120)[0]["step_ns"] for w in (0, 1)]
    begin, end = max(t[1] for t in times), min(t[-1] for t in times)
    slow = []
    for t, s in zip(times, solo):
        inside = [x for x in t if begin <= x <= end]
        if len(inside) < 4:
            raise Problem(f"only {len(inside)} steps together")
        slow.append(1e-9 * (inside[-1] - inside[0]) / (len(inside) - 1) / s["step_s"])
    return slow


def measure(args, log):
    path = os.path.join(args.dir, "pairs.jsonl")
    os.makedirs(args.dir, exist_ok=True)
    done = set()
    if os.path.exists(path):
        with open(path) as f:
            done = {(r["kind"], r["pair"][0][0], r["pair"][1][0]) for r in map(json.loads, f)}
    with open(path, "a+") as out:
        end_line(out)
        for kind in ("link", "processor", "shift"):
            fleet = fleet_for(kind, log)
            try:
                solos = []
                for which in (0, 1):
                    solos.append({})
                    for job in JOBS:
                        runs = [alone(args.dlsim, fleet, which, job, os.path.join(args.dir, "solo.h5")) for _ in range(2)]
                        solos[which][job] = min(runs, key=lambda r: r["step_s"])
                pairs = [(a, b) for i, a in enumerate(JOBS) for b in JOBS[i:]]
                if kind == "processor":
                    pairs = pairs[::2]
                if kind == "shift":
                    pairs = [(a, a) for a in JOBS]
                for pair in pairs:
                    if (kind, pair[0][0], pair[1][0]) in done:
                        continue
                    solo = [solos[which][job] for which, job in enumerate(pair)]
                    delay_s = 0.5 * solo[0]["step_s"] if kind == "shift" else 0
                    slow = [together(fleet, pair, solo, delay_s) for _ in range(2)]
                    row = {"kind": kind, "pair": pair, "solo": solo, "slow": [min(s[i] for s in slow) for i in (0, 1)]}
                    out.write(json.dumps(row) + "\n")
                    out.flush()
                    print(f"{kind} {pair[0][0]} {pair[1][0]}: {row['slow'][0]:.2f} {row['slow'][1]:.2f}, foretold "
                          + " ".join("{:.2f} {:.2f}".format(*f) for f in foretell(row).values()), flush=True)
            finally:
                fleet.close()


# ---- what solo profiles say


def by_links(solo):
    """docs/world.md, Shared links, for two jobs on one link; bandwidths on a fine grid."""
    capacity = GOODPUT * bits_per_second(RATE) / 8

    def used(j, x):
        return solo[j]["bytes"] / (solo[j]["step_s"] + solo[j]["bytes"] / x - solo[j]["bytes"] / capacity)

    def fits(x):
        return all(x[j] + used(1 - j, x[1 - j]) <= capacity for j in (0, 1))

    x, grid = [0.0, 0.0], capacity / 2000
    frozen = [False, False]
    level = grid
    while level <= capacity and not all(frozen):
        for j in (0, 1):
            if not frozen[j]:
                trial = list(x)
                for k in (0, 1):
                    if not frozen[k]:
                        trial[k] = level
                if fits(trial) if all(t > 0 for t in trial) else True:
                    x[j] = level
                else:
                    frozen[j] = True
        level += grid
    return [1 + solo[j]["bytes"] * (1 / x[j] - 1 / capacity) / solo[j]["step_s"] for j in (0, 1)]


def by_shift(solo):
    """Equal jobs half a step apart: bursts that are shorter than half a step never meet."""
    capacity = GOODPUT * bits_per_second(RATE) / 8
    over = max(0.0, 2 * solo[0]["bytes"] / capacity - solo[0]["step_s"])
    return [1 + over / s["step_s"] for s in solo]


def by_knee(solo):
    speed = max(0.5, 1 - SLOPE * max(0.0, sum(s["use"] for s in solo) - KNEE))
    return [1 / speed] * 2


def by_sharing(solo):
    """Who wants the processor finds the other wanting it by chance, and then has half of it."""
    slow = [1.0, 1.0]
    for _ in range(100):
        slow = [1 + solo[j]["use"] * min(1.0, busy(solo[1 - j], slow[1 - j])) for j in (0, 1)]
    return slow


def busy(s, slow):
    """The part of the time in which a job that takes so much longer wants or has the processor."""
    return 1 - (1 - s["use"]) / slow


def foretell(row):
    if row["kind"] == "link":
        return {"max-min": by_links(row["solo"])}
    if row["kind"] == "shift":
        return {"never meet": by_shift(row["solo"]), "by chance": by_links(row["solo"])}
    return {"knee": by_knee(row["solo"]), "time sharing": by_sharing(row["solo"])}


def ordered(measured, foretold):
    """Of all two pairs whose mean slow-downs differ by 5 % or more: the part that is foretold in the same order."""
    right = all_ = 0
    for i, a in enumerate(measured):
        for k in range(i):
            if abs(a - measured[k]) >= 0.05 * min(a, measured[k]):
                all_ += 1
                right += (a > measured[k]) == (foretold[i] > foretold[k])
    return right / all_ if all_ else float("nan")


def report(path):
    with open(os.path.join(path, "pairs.jsonl")) as f:
        rows = [json.loads(line) for line in f]
    print("| pairs | | slow-down, least, median, most | foretold by | median error | 90th percentile | order right |\n"
          "|---|---|---|---|---|---|---|")
    for kind in ("link", "shift", "processor"):
        of = [r for r in rows if r["kind"] == kind]
        if not of:
            continue
        slow = sorted(s for r in of for s in r["slow"])
        for law in foretell(of[0]):
            off = sorted(abs(f / s - 1) for r in of for f, s in zip(foretell(r)[law], r["slow"]))
            order = ordered([sum(r["slow"]) / 2 for r in of], [sum(foretell(r)[law]) / 2 for r in of])
            print(f"| {kind} | {len(of)} | {slow[0]:.2f}, {statistics.median(slow):.2f}, {slow[-1]:.2f} | {law} | "
                  f"{100 * statistics.median(off):.1f} % | {100 * off[int(0.9 * len(off))]:.1f} % | {100 * order:.0f} % |")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("dir")
    p.add_argument("--report", action="store_true")
    p.add_argument("--dlsim", default=os.environ.get("DLSIM", "dlsim"))
    args = p.parse_args()
    if args.report:
        return report(args.dir)
    with tempfile.TemporaryFile("w+") as log:
        try:
            measure(args, log)
        except (Death, Problem) as e:
            log.seek(0)
            sys.stderr.write("".join(log.readlines()[-15:]))
            sys.exit(f"contend.py: {e}")


if __name__ == "__main__":
    main()
