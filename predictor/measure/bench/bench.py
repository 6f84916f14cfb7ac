#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs real training jobs in a setting and records them: `dlsim perf bench`, docs/bench.md.

A setting is w1 (one worker alone), w2-ar-RATE (all-reduce among two), p1w2-ps-RATE (a parameter server),
p2w2-ps-RATE (two, each with about half of the bytes), or one of these with -shared (the workers' uplink
is one). Of every run there is a line of JSON: the framework's own times and bytes, and what
`dlsim perf analyze` says of worker 0.
"""
import argparse
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from fleet import BUCKET_BYTES, QUEUE_S, Death, Fleet, Problem, Usage, bits_per_second

SETTING = re.compile(r"(?:(w1)|(?:p([12]))?w(2)-(ar|ps)-([0-9]+[mg])(-shared)?)$")
SETTINGS = ("w1", "w2-ar-1g", "w2-ar-200m", "p1w2-ps-1g", "p1w2-ps-200m", "p2w2-ps-1g", "p2w2-ps-200m")
ROLES = ("w0", "w1", "server", "server-1")
INTERVAL_MS = 2.5
WARMUP = 4
KEPT = ("pattern", "mean", "idle_s", "burst_s", "idle_amount", "burst_amount", "n_idle", "n_burst", "explained",
        "bursts_per_step", "interval_95")
STEP_GOAL_S = 0.06  # of the smaller batch of a network, alone


class Setting:
    def __init__(self, name):
        found = SETTING.match(name)
        if not found or (found[2] is None) == (found[4] == "ps"):
            raise Usage(f"setting \"{name}\": expected w1, w2-ar-RATE, p1w2-ps-RATE[-shared] or "
                        "p2w2-ps-RATE[-shared]")
        self.name = name
        self.exchange = {None: "one", "ar": "allreduce", "ps": "ps"}[found[4]]
        self.rate = bits_per_second(found[5]) if found[5] else None
        self.rack = (0, 1) if found[6] else ()  # workers behind one uplink
        self.servers = int(found[2] or 0)
        self.roles = (1 if self.exchange == "one" else 2) + self.servers


def busy_s():
    """Processor time that all processors have spent in programs."""
    with open("/proc/stat") as f:
        words = f.readline().split()
    return sum(int(words[i]) for i in (1, 2, 3)) / os.sysconf("SC_CLK_TCK")


class Recorder:
    """dlsim perf record, from its first reading until stop()."""

    def __init__(self, dlsim, processes, path):  # the caller has asked whether a file may be replaced
        watched = ",".join(f"{p.role}:{p.child.pid}" for p in processes)
        self.path = path
        self.child = subprocess.Popen(
            [dlsim, "perf", "record", "-q", "--no-gpu", f"--interval={INTERVAL_MS}ms", f"--processes={watched}", "--force",
             "-o", path, "--", "sh", "-c", "echo; cat >/dev/null"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=self.prepare)
        if not self.child.stdout.readline():
            raise Problem("dlsim perf record: " + self.child.stderr.read().decode().strip())

    @staticmethod
    def prepare():
        if os.geteuid() == 0:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))

    def stop(self):
        self.child.stdin.close()
        said = self.child.stderr.read().decode().strip()
        if self.child.wait(20):
            raise Problem("dlsim perf record: " + said)


def analyze(dlsim, path, process, from_ns, to_ns, *more):
    done = subprocess.run([dlsim, "perf", "analyze", path, "--json", f"--process={process}",
                           f"--from={from_ns * 1e-9:.6f}s", f"--to={to_ns * 1e-9:.6f}s", *more], capture_output=True, text=True)
    if done.returncode:
        raise Problem("dlsim perf analyze: " + done.stderr.strip())
    return json.loads(done.stdout)


def within_limit(rate, of, shared):
    """A burst carries what its link lets through, and a bucket before; on the way to a shared uplink what its queue holds, too."""
    before = BUCKET_BYTES + (QUEUE_S * rate / 8 if shared else 0)
    for name in ("net_tx", "net_rx"):
        r = of[name]
        if r["burst_amount"] * r["burst_s"] > 1.02 * rate / 8 * r["burst_s"] + before:
            raise Problem(f"the link of w0 carried {r['burst_amount']:.3g} B/s for {1e3 * r['burst_s']:.1f} ms ({name}), "
                          f"its limit is {rate / 8:.3g} B/s")


def measure(dlsim, fleet, network, batch, setting, path, seconds, profiler):
    """One run, as a dictionary. The recording is cut to whole steps, the first left out."""
    processes = fleet.processes[:setting.roles]
    prepared = fleet.everyone("prepare", processes, network=network, batch=batch, exchange=setting.exchange,
                              workers=min(2, setting.roles), servers=setting.servers, warmup=WARMUP)
    steps = max(8, min(400, int(seconds / prepared[0]["step_s"]))) + 2
    busy, own, began = busy_s(), [p.processor_s() for p in processes], time.monotonic()
    recorder = Recorder(dlsim, processes, path)
    try:
        run = fleet.everyone("run", processes, seconds=60 + 10 * steps * prepared[0]["step_s"], steps=steps,
                             workers=min(2, setting.roles), profiler=profiler)
    finally:
        recorder.stop()
    length = time.monotonic() - began
    other = busy_s() - busy - sum(p.processor_s() - t for p, t in zip(processes, own))
    times = run[0]["step_ns"]
    with_steps = [b - a for a, b in zip(times[1:], times[2:])]
    said = analyze(dlsim, path, "w0", 0, 0)
    from_ns, to_ns = times[1] - said["began_ns"], times[-1] - said["began_ns"]
    said = analyze(dlsim, path, "w0", from_ns, to_ns)
    of = {r["resource"]: r for r in said["resources"]}
    # The clock of a process that runs moves in the kernel's ticks of 4 ms.
    of["cpu"] = next(r for r in analyze(dlsim, path, "w0", from_ns, to_ns, "--interval=10ms")["resources"]
                     if r["resource"] == "cpu")
    steps = len(with_steps)
    if setting.rate:
        within_limit(setting.rate, of, setting.rack)
    return {
        "network": network, "batch": batch, "setting": setting.name, "parameters": prepared[0]["parameters"],
        "steps": steps, "step_s": 1e-9 * sum(with_steps) / steps,
        "step_spread": (sorted(with_steps)[int(0.9 * steps)] - sorted(with_steps)[int(0.1 * steps)]) / sorted(with_steps)[steps // 2],
        "found_s": said["step"]["seconds"], "period_s": said["step"]["period"], "chance": said["step"]["chance"],
        "seconds": said["seconds"], "other_load": max(0, other / length), "time": int(time.time()),
        "expected": {"sent": prepared[0]["sent"], "received": prepared[0]["received"]},
        "counted": {"sent": of["net_tx"]["total"] / steps if "net_tx" in of else 0,
                    "received": of["net_rx"]["total"] / steps if "net_rx" in of else 0},
        "from_s": from_ns * 1e-9, "to_s": to_ns * 1e-9, "profile": said["profile"],
        "resources": {name: {k: r[k] for k in KEPT} for name, r in of.items()},
        **({"profiler": run[0]["profiler"]} if profiler else {}),
    }


def tell(r):
    print(f"{r['network']} batch {r['batch']} {r['setting']}: step {1e3 * r['step_s']:.1f} ms (analysis {1e3 * r['found_s']:.1f}), "
          f"sent {r['counted']['sent']:.0f} B a step of {r['expected']['sent']}, other load {r['other_load']:.2f}", flush=True)


# ---- one job, and all of them


def fleet_for(setting, log, first):
    if setting.exchange == "one":
        fleet = Fleet(ROLES[:1], log, links=False, first=first)
    else:
        fleet = Fleet(ROLES[:setting.roles], log, first=first, rack=setting.rack)
        fleet.limit(setting.rate)
    fleet.join()
    return fleet


class Kept(Problem):
    """A file that is there already, as other commands leave."""
    code = 5


def one(args, log):
    setting = Setting(args.setting)
    if os.path.exists(args.output) and not args.force:
        raise Kept(f"{args.output}: is there already (force replaces it)")
    fleet = fleet_for(setting, log, not args.no_priority)
    try:
        row = measure(args.dlsim, fleet, args.network, args.batch, setting, args.output, args.seconds,
                      args.profiler)
    finally:
        fleet.close()
    tell(row)
    if args.json:
        print(json.dumps(row))


def plan_batches(fleet, names, said):
    """The batch at which a step alone takes about STEP_GOAL_S, a power of 2, and twice that."""
    plan = {}
    for name in names:
        batch, before = 8, 0
        while batch != before:  # a larger batch tells more of a small network
            step_s = fleet.everyone("prepare", fleet.processes[:1], network=name, batch=batch, exchange="one", workers=1,
                                    warmup=WARMUP)[0]["step_s"]
            better = max(2, min(4096, 2 ** round(math.log2(STEP_GOAL_S / step_s * batch))))
            before, batch = batch, better if better > batch or before == 0 else batch
        plan[name] = [batch, 2 * batch]
        said(f"{name}: batches {batch} and {2 * batch}")
    return plan


def done_before(path):
    done = set()
    if os.path.exists(path):
        with open(path) as f:
            for line in f:
                if line.endswith("\n"):  # not one that a kill has cut
                    r = json.loads(line)
                    done.add((r["network"], r["batch"], r["setting"], r["repetition"]))
    return done


def collect(args, log):
    """Everything, once for each repetition; what is in runs.jsonl already is left out."""
    os.makedirs(os.path.join(args.all, "recordings"), exist_ok=True)
    runs, planned = os.path.join(args.all, "runs.jsonl"), os.path.join(args.all, "plan.json")
    settings = [Setting(name) for name in args.settings.split(",")]
    roles = ROLES[:max(s.roles for s in settings)]
    done, failures, began = done_before(runs), {}, time.monotonic()
    fleet = None

    def start(rack=()):
        fresh = Fleet(roles, log, first=not args.no_priority, rack=rack)
        try:
            fresh.join()
        except BaseException:
            fresh.close()
            raise
        return fresh

    try:
        fleet = start()
        if not os.path.exists(planned):
            names = fleet.everyone("names", fleet.processes[:1])[0]["names"]
            plan = plan_batches(fleet, names[:args.networks or None], lambda text: print(text, flush=True))
            with open(planned + ".part", "w") as f:
                json.dump(plan, f, indent=1)
            os.rename(planned + ".part", planned)
        with open(planned) as f:
            plan = json.load(f)
        todo = [(network, batch, s, repetition) for repetition in range(args.repeat) for s in settings
                for network, batches in plan.items() for batch in batches
                if (network, batch, s.name, repetition) not in done]
        with open(runs, "a+") as out:
            end_line(out)
            for i, (network, batch, setting, repetition) in enumerate(todo):
                name = f"{network}_{batch}_{setting.name}_{repetition}"
                if fleet.rack != set(setting.rack):
                    fleet.close()
                    fleet = start(setting.rack)
                for attempt in range(3):
                    try:
                        fleet.limit(setting.rate)
                        row = measure(args.dlsim, fleet, network, batch, setting,
                                      os.path.join(args.all, "recordings", name + ".h5"), args.seconds, args.profiler)
                    except Death as e:
                        print(f"{name}: {e}; all processes are started anew", file=sys.stderr, flush=True)
                        failures[name] = str(e)
                        fleet.close()
                        fleet = start(setting.rack)
                        continue
                    row.update(repetition=repetition, attempt=attempt)
                    failures.pop(name, None)
                    if row["other_load"] <= args.max_load:
                        break
                else:
                    if name in failures:
                        continue
                out.write(json.dumps(row) + "\n")
                out.flush()
                left_s = (time.monotonic() - began) / (i + 1) * (len(todo) - i - 1)
                print(f"{i + 1}/{len(todo)}, {left_s / 60:.0f} min left: ", end="")
                tell(row)
    finally:
        if fleet:
            fleet.close()
    if failures:
        raise Problem(f"{len(failures)} runs failed: " + "; ".join(f"{k}: {v}" for k, v in failures.items()))


def end_line(f):
    """A line that a kill has cut is ended, so that the next one stands alone."""
    f.seek(0, os.SEEK_END)
    if f.tell():
        f.seek(f.tell() - 1)
        if f.read(1) != "\n":
            f.seek(0)
            whole = [line for line in f if line.endswith("\n")]
            f.truncate(0)
            f.writelines(whole)


def export(args, log):
    """Every network as ONNX, the batch left open."""
    os.makedirs(args.export, exist_ok=True)
    fleet = Fleet(ROLES[:1], log, links=False, first=False)
    try:
        for name in [args.network] if args.network else fleet.everyone("names")[0]["names"]:
            said = fleet.everyone("export", network=name, path=os.path.join(args.export, name + ".onnx"))[0]
            print(f"{name}: {said['parameters']} parameters", flush=True)
    finally:
        fleet.close()


def main():
    p = argparse.ArgumentParser(prog="dlsim perf bench", description="Real training jobs in a setting, recorded.")
    p.add_argument("--network", help="one of --list")
    p.add_argument("--batch", type=int, default=16, help="of each worker; 16 if left out")
    p.add_argument("--setting", default="w1",
                   help="w1, w2-ar-RATE, p1w2-ps-RATE[-shared], p2w2-ps-RATE[-shared]; RATE: 100m, 200m, 1g, ...")
    p.add_argument("--seconds", type=float, default=1.2, help="of a recording, at least 8 steps; 1.2 if left out")
    p.add_argument("--output", "-o", default="perf.h5", help="the recording; perf.h5 if left out")
    p.add_argument("--force", action="store_true", help="replace a recording that is there already")
    p.add_argument("--json", action="store_true", help="print the run as JSON, too")
    p.add_argument("--list", action="store_true", help="names of the networks")
    p.add_argument("--export", metavar="DIR", help="networks as ONNX files, and nothing is run")
    p.add_argument("--all", metavar="DIR", help="every network in every setting, into DIR/runs.jsonl; goes on where it was cut")
    p.add_argument("--settings", default=",".join(SETTINGS), help="of --all")
    p.add_argument("--networks", type=int, default=0, help="of --all: the first so many")
    p.add_argument("--repeat", type=int, default=2, help="repetitions of --all; 2 if left out")
    p.add_argument("--max-load", type=float, default=1e9, help="--all: a run beside more load of others is made again, twice at most")
    p.add_argument("--profiler", action="store_true", help="the framework's profiler watches, too, which takes time of its own")
    p.add_argument("--no-priority", action="store_true", help="do not ask the kernel for priority over other programs")
    p.add_argument("--dlsim", default=os.environ.get("DLSIM", "dlsim"), help=argparse.SUPPRESS)
    args = p.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryFile("w+") as log:
        try:
            if args.list:
                fleet = Fleet(ROLES[:1], log, links=False, first=False)
                print("\n".join(fleet.everyone("names")[0]["names"]))
                fleet.close()
            elif args.export:
                export(args, log)
            elif args.all:
                collect(args, log)
            elif args.network:
                one(args, log)
            else:
                raise Usage("one of --network, --all, --export and --list is needed")
        except Death as e:
            log.seek(0)
            sys.stderr.write("".join(log.readlines()[-15:]))
            sys.exit(f"dlsim perf bench: {e}")
        except Problem as e:
            sys.stderr.write(f"dlsim perf bench: {e}\n")
            sys.exit(e.code)


if __name__ == "__main__":
    main()
