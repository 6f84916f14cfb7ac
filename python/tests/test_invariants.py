# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run says must agree with itself and with what its inputs say, whatever is combined: random clusters, traces and
options under every scheduler and placement, judged by the few lines of arithmetic below.

    PYTHONPATH=build/release/python DLSIM_CASES=5000 DLSIM_FIRST=0 python3 -m unittest test_invariants

A case is known by its number, and repeated by it alone: DLSIM_FIRST=N DLSIM_CASES=1 (Case(N * 1009, ...).about() says what it is).
"""

import collections
import math
import os
import random
import subprocess
import tempfile
import unittest

import dlsim

TYPES = ("V100", "P100", "A100")
WATTS = {"V100": (40, 250), "P100": (30, 200), "A100": (60, 400)}
ASKING = ("cassini", "crux", "driple", "driple-net", "driple-pack", "hetero", "horus")
MODELS = ("resnet50", "vgg16", "bert_base", "")


def named(of):
    said = subprocess.run([dlsim._run.program(), "list", of], capture_output=True, text=True, check=True).stdout
    return [line for line in said.splitlines() if line and line[0] != " "]


class Case:
    """A random cluster, trace, policies and options."""

    def __init__(self, number, schedulers, placements):
        r = self.random = random.Random(number)
        self.scheduler = schedulers[number % len(schedulers)]
        self.placement = placements[number // len(schedulers) % len(placements)]
        self.groups = [{"count": r.randint(1, 4), "gpus": r.choice((1, 2, 4, 8)), "gpu_type": r.choice(TYPES[:2]),
                        "rack_size": r.choice((0, 2))} for _ in range(r.randint(1, 3))]
        self.counted = r.random() < 0.3  # processors and memory
        if self.counted:
            for group in self.groups:
                group["cpus"], group["memory"] = r.choice((0, 3, 10.5, 64, 64)), f"{r.choice((0, 9, 40, 500, 500))} GiB"
        self.cluster = {"nodes": self.groups}
        self.nodes = [(g["gpu_type"], g["gpus"]) for g in self.groups for _ in range(g["count"])]
        self.sides = [(g.get("cpus", 0), int(g.get("memory", "0").split()[0]) * 1024) for g in self.groups for _ in range(g["count"])]
        self.sides = [tuple(v if all(column) else 0 for v, column in zip(row, zip(*self.sides))) for row in self.sides]
        self.per_type = collections.Counter()
        for kind, gpus in self.nodes:
            self.per_type[kind] += gpus
        self.quotas = []
        if r.random() < 0.3:
            self.quotas = [{"name": name, "gpu_type": kind, "gpus": r.randint(0, gpus // 2)}
                           for name in ("a", "b") for kind, gpus in self.per_type.items()]
            self.cluster["virtual_clusters"] = self.quotas
        self.options = {"run.seed": r.randint(0, 99), "energy.account": True, "energy.price": 0.25, "energy.node": 100,
                        "energy.gpus": "; ".join(f"{k}={a}:{b}" for k, (a, b) in WATTS.items()),
                        "scheduler.restore_cost": r.choice((0, 0, 1.5, 7)), "trace.zero_duration": "keep",
                        "energy.pue": r.choice((1, 1.25)), "run.patience": 20000, "run.audit": r.random() < 0.5}
        self.more()
        self.trace = self.jobs(r.randint(2, 24))

    operator = False

    def more(self):
        r, o = self.random, self.options
        self.failing = r.random() < 0.35
        if self.failing:
            o[r.choice(("failures.node_mtbf", "failures.gpu_mtbf", "failures.job_mtbf"))] = r.choice((100, 400, 2000))
            o["failures.repair"] = r.choice((1, 30, 200))
            o["failures.drains"] = r.choice((0, 0, 0.5))
            if r.random() < 0.3:
                o["failures.rack_mtbf"], o["failures.lemons"], o["failures.replace_after"] = 3000, 0.5, 2
            if r.random() < 0.2:
                o["failures.spares"] = 1
        self.down = []  # (node, from, to) in s, that a file says
        if r.random() < 0.25:
            self.failing, t = True, 0.0
            up = [0.0] * len(self.nodes)
            for _ in range(r.randint(1, 12)):
                t += r.choice((0, 3, 17.25, 60))
                node = r.randrange(len(self.nodes))
                if t > up[node]:
                    up[node] = t + r.choice((0.5, 20, 300))
                    self.down.append((node, t, up[node]))
        if r.random() < 0.4:
            o["checkpoint.period"] = r.choice((5, 20, 100))
            o["checkpoint.cost"] = r.choice((0, 0.5, 3))
            if r.random() < 0.3 and o["checkpoint.period"] == 5:
                o["checkpoint.lost_on_preemption"] = True
        if r.random() < 0.3:
            o["run.until"] = r.choice((0, 50, 123.456789, 400))
        else:
            o["run.until"] = 20000  # of those that lose what they did, some get nowhere
        if r.random() < 0.2:
            o["results.warmup"], o["results.cooldown"] = r.choice((0, 20)), r.choice((0, 20))
        self.speeds = {kind: 1.0 for kind in TYPES}
        if r.random() < 0.3:
            self.speeds.update(P100=0.5, A100=2.0)
            o["perf.model"], o["perf.speeds"] = "speeds", "P100=0.5; A100=2"
        elif r.random() < 0.25:
            o["perf.model"], o["perf.residual_sigma"], o["trace.assign"] = "operator", r.choice((0, 0.2)), "zoo"
            o["perf.jitter"] = r.choice((0, 0, 0.1))
            [g.update(nic=r.choice(("10 Gb/s", "10 Gb/s", "25 Gb/s", "100 Gb/s"))) for g in self.groups]  # also of one GPU type
            if r.random() < 0.3:
                [g.update(rails=True) for g in self.groups[:r.randint(1, 3)]]
            o["cluster.rack_uplink"] = r.choice(("0", "20 Gb/s"))
            self.operator = True
        if self.placement in ASKING or r.random() < 0.15:
            o["predictor.source"] = r.choice(("oracle", "noisy", "operator"))
            o["predictor.calibrate"] = r.choice((True, False))
        if r.random() < 0.3:
            o["scheduler.estimates"] = r.choice(("limit", "history", "history-trees") +
                                                (("predictor",) if "predictor.source" in o else ()))
        if self.scheduler in ("fifo", "fjf", "srtf", "srsf", "sjf", "lpjf", "dlas", "dlas-gpu", "gittins", "qssf", "sjf-duration",
                              "shortest-expected", "easy") and r.random() < 0.4:
            o["scheduler.discipline"] = r.choice(("strict", "fit", "easy", "preempt"))
        if o.get("scheduler.discipline", self.scheduler) == "easy":
            o["scheduler.reserve"] = r.choice(("gpus", "nodes"))
        if self.scheduler in ("dlas", "dlas-gpu", "gittins") and r.random() < 0.7:
            o["scheduler.queue_limits"], o["scheduler.promote_knob"] = [20, 100], r.choice((0, 1, 4))
        for key, names in (("slice", ("gandiva",)), ("round", ("gandiva-pack", "gavel-las", "gavel-ftf", "gavel-cost", "gavel-makespan",
                           "gavel-las-packed")), ("interval", ("muri-s", "muri-l", "shockwave", "hadar", "pollux", "sia", "optimus",
                           "fair-share", "kueue", "allox"))):
            if self.scheduler in names and r.random() < 0.7:
                o[f"scheduler.{key}"] = r.choice((3, 11, 60))
        self.services = r.random() < 0.12
        if self.services:
            self.cluster = {"cluster": self.cluster, "services": {"list": [
                {"name": "web", "load": "0=2; 12=3", "request": "0.1 s", "bound": "0.4 s", "gpu_type": self.groups[-1]["gpu_type"]}]}}

    def jobs(self, n):
        r = self.random
        rows = collections.defaultdict(list)
        now = 0
        elastic = r.random() < 0.3
        typed, limits = r.random() < 0.4, r.random() < 0.4
        for i in range(n):
            now += r.choice((0, 0, 1, 7, 40)) + r.choice((0, 0.000001, 0.5))
            gpus = r.choice((1, 1, 2, 3, 4, 8, 8, 17, 40))
            rows["job_id"].append(f"j{i}")
            rows["num_gpu"].append(gpus)
            rows["submit_time"].append(round(now, 6))
            rows["duration"].append(r.choice((0, 0.000001, 1, 10, 33.333333, 100, 250)))
            rows["model_name"].append(r.choice(MODELS))
            rows["vc"].append(r.choice(("a", "b", "c", "")))
            rows["user"].append(r.choice(("u", "v", "")))
            rows["priority"].append(r.choice((None, 0, 1, 5)))
            rows["gpu_type"].append(r.choice(("", "V100", "P100", "A100", "V100|P100")) if typed else "")
            rows["limit"].append(r.choice((None, 20, 300)) if limits else None)
            rows["deadline"].append(round(now + r.choice((5, 100, 600)), 6) if limits and r.random() < 0.5 else None)
            rows["num_cpu"].append(r.choice((None, 1, 2.5, gpus, 4 * gpus)) if self.counted else None)
            rows["mem_mib"].append(r.choice((None, 1000, 3000 * gpus + 1)) if self.counted else None)
            rows["min_gpus"].append(r.randint(1, gpus) if elastic else None)
            rows["max_gpus"].append(gpus + r.choice((0, 4)) if elastic else None)
        self.elastic = elastic
        return dict(rows)

    def about(self):
        return f"{self.scheduler}/{self.placement} {self.cluster} {self.options} {self.trace}"


def quantile(values, part):
    at = part * (len(values) - 1)
    low = math.floor(at)
    return values[low] + (values[min(low + 1, len(values) - 1)] - values[low]) * (at - low)


class Judge:
    """The arithmetic: every method looks at one kind of promise of docs/results.md."""

    def __init__(self, test, case, run):
        self.test, self.case, self.run = test, case, run
        # A table without rows has no columns.
        self.jobs, self.rows, self.series = (collections.defaultdict(list, t.to_dict())
                                             for t in (run.jobs, run.allocations, run.series))
        self.n = len(self.jobs["id"])
        self.first = min(self.jobs["submit_us"])
        self.end = self.first + round(run["span_s"] * 1e6)
        self.guest = self.rows.get("guest", [0] * len(self.rows["job"]))
        of = {name: i for i, name in enumerate(case.trace["job_id"])}
        self.each = {name: [(case.trace[name][of[j]] or 0) / case.trace["num_gpu"][of[j]] for j in self.jobs["id"]]
                     for name in ("num_cpu", "mem_mib")}  # that go with each GPU
        self.by_job = collections.defaultdict(list)
        for i, job in enumerate(self.rows["job"]):
            self.by_job[job].append(i)

    def equal(self, a, b, what, tolerance=0.0):
        if not (a == b or abs(a - b) <= tolerance or (math.isnan(a) and math.isnan(b))):
            self.test.fail(f"{what}: {a} is not {b}")

    def all(self):
        for job in range(self.n):
            self.job(job)
        self.gpus()
        self.over_time()
        self.summary()
        self.energy()

    # ---- jobs

    def stretches(self, job):
        """(start, end, rate, GPUs, guest) of a job: rows of several nodes are one."""
        found = collections.OrderedDict()
        for i in self.by_job[job]:
            key = self.rows["start_us"][i], self.rows["end_us"][i]
            gpus, rate, guest = found.get(key, (0, self.rows["rate"][i], self.guest[i]))
            self.equal(rate, self.rows["rate"][i], f"job {job}: two rates at once")
            found[key] = gpus + self.rows["gpus"][i], rate, guest
        return [(*key, rate, gpus, guest) for key, (gpus, rate, guest) in sorted(found.items())]

    def job(self, j):
        c = {name: column[j] for name, column in self.jobs.items()}
        state, submit, name = c["state"], c["submit_us"], f"job {j} ({self.jobs['state'][j]})"
        stretches = self.stretches(j)
        kinds = self.allowed(j)
        if c["gpus"] > max((self.case.per_type[k] for k in kinds), default=0) and not self.case.elastic \
                and self.case.scheduler != "hadar":
            if state in ("running", "finished", "pending"):
                self.test.fail(f"{name}: {c['gpus']} GPUs of {kinds or 'no type'} cannot be had")
        if state == "infeasible":
            self.equal((c["start_us"], c["end_us"], len(stretches)), (-1, -1, 0), name)
            self.equal(c["executed_us"] + c["overhead_us"], 0, f"{name}: executed")
            return
        held = c["executed_us"] + c["overhead_us"]
        lost = c.get("lost_us", 0)
        for before, after in zip(stretches, stretches[1:]):
            self.test.assertLessEqual(before[1], after[0], f"{name}: in two places at once")
        self.equal(sum(b - a for a, b, *_ in stretches), held, f"{name}: allocations and executed + overhead")
        restoring = sum(b - a for a, b, rate, *_ in stretches if rate == 0)
        saves = self.case.options.get("checkpoint.cost", 0) > 0  # which no row tells
        plain = len({rate for *_, rate, _, _ in stretches if rate}) < 2
        if saves:
            self.test.assertLessEqual(restoring, c["overhead_us"], f"{name}: overhead")
        else:
            self.equal(restoring, c["overhead_us"], f"{name}: overhead")
        if stretches:
            self.equal(stretches[0][0], c["start_us"], f"{name}: start")
            self.test.assertGreaterEqual(c["start_us"], submit, name)
        work = sum((b - a) * rate for a, b, rate, *_ in stretches)
        # Ends and changes of the rate are at whole microseconds.
        wiggle = (2 + 2 * len(stretches) + 2 * c["preempts"]) * max([1, *(rate for *_, rate, _, _ in stretches)])
        if state == "finished":
            self.equal(c["end_us"] - submit, held + c["pending_us"], f"{name}: end - submission and what it is made of")
            if stretches:
                self.equal(stretches[-1][1], c["end_us"], f"{name}: end")
            self.equal(c["resumes"], c["preempts"] + 1, f"{name}: resumes")
            if saves:
                work -= (c["overhead_us"] - restoring) * (work / (held - restoring) if held > restoring else 0)
            self.equal(work, c["duration_us"] + lost, f"{name}: work done, and its duration + lost",
                       wiggle if not saves or plain else math.inf)
        elif state in ("pending", "running"):
            self.equal(self.end - submit, held + c["pending_us"], f"{name}: time since submission")
            self.equal(c["end_us"], -1, f"{name}: end")
            if not self.case.scheduler == "pollux":
                self.test.assertLessEqual(work, c["duration_us"] + lost + wiggle + (c["overhead_us"] - restoring) * 2,
                                          f"{name}: works longer than it has work")
            self.equal(c["resumes"] - c["preempts"], state == "running", f"{name}: resumes")
        elif state == "new":
            self.equal(len(stretches), 0, name)
        for a, b, *_ in stretches:
            self.test.assertLessEqual(b, self.end, f"{name}: beyond the end of the run")
        if "gpu_us" in c:
            own = sum((b - a) * gpus for a, b, _, gpus, guest in stretches if not guest)
            self.equal(c["gpu_us"], own, f"{name}: gpu_us")
            if not saves:
                self.equal(c["gpu_restore_us"], sum((b - a) * gpus for a, b, rate, gpus, guest in stretches
                                                    if not guest and rate == 0), f"{name}: gpu_restore_us")
        if "guest_us" in c:
            self.equal(c["guest_us"], sum(b - a for a, b, *_, guest in stretches if guest), f"{name}: guest_us")

    def allowed(self, j):
        said = self.jobs["gpu_types"][j]
        return [k for k in self.case.per_type if not said or k in said.split("|")]

    # ---- GPUs

    def gpus(self):
        """No GPU is two jobs' but a guest's; types and quotas are kept."""
        rows, changes = self.rows, []
        for i, job in enumerate(rows["job"]):
            node, gpus = rows["node"][i], rows["gpus"][i]
            if node >= 0:
                kind, most = self.case.nodes[node]
                self.equal(bin(rows["gpu_mask"][i]).count("1"), gpus, f"row {i}: GPUs")
                self.test.assertLess(rows["gpu_mask"][i], 1 << most, f"row {i}: node {node} has {most} GPUs")
                self.test.assertIn(kind, self.allowed(job), f"row {i}: job {job} on a {kind}")
                for at, since, until in self.case.down:
                    if at == node and not self.case.options.get("failures.spares"):
                        if rows["start_us"][i] < self.first + round(until * 1e6) and rows["end_us"][i] > self.first + round(since * 1e6):
                            self.test.fail(f"row {i}: job {job} on node {node}, which is down from {since} to {until} s")
                if not self.guest[i] and rows["end_us"][i] > rows["start_us"][i]:
                    changes += [(rows["start_us"][i], 1, i), (rows["end_us"][i], 0, i)]
        taken = [0] * len(self.case.nodes)
        held, sides = collections.Counter(), collections.Counter()
        quota = {(q["name"], q["gpu_type"]): q["gpus"] for q in self.case.quotas}
        strict = self.case.scheduler not in ("fair-share", "kueue") and not self.case.failing and not self.case.services
        for _, begins, i in sorted(changes):
            node, mask = rows["node"][i], rows["gpu_mask"][i]
            key = self.jobs["vc"][rows["job"][i]] or "", self.case.nodes[node][0]
            for side, name in enumerate(("num_cpu", "mem_mib")):
                sides[node, side] += (1 if begins else -1) * self.each[name][rows["job"][i]] * rows["gpus"][i]
                if begins and self.case.sides[node][side] and self.case.placement != "count":
                    self.test.assertLessEqual(sides[node, side], self.case.sides[node][side] + 1e-9, f"row {i}: {name} of node {node}")
            if not begins:
                taken[node] &= ~mask
                held[key] -= rows["gpus"][i]
            else:
                self.equal(taken[node] & mask, 0, f"row {i}: GPUs of node {node} are taken")
                taken[node] |= mask
                held[key] += rows["gpus"][i]
                if strict and key in quota:
                    self.test.assertLessEqual(held[key], quota[key], f"row {i}: quota of {key}")

    # ---- over time

    def until(self):
        """Where each row of the series ends; what comes after the last end does not count."""
        return [max(a, min(b, self.end)) for a, b in zip(self.series["t_us"], [*self.series["t_us"][1:], self.end])]

    def over_time(self):
        s, rows = self.series, self.rows
        if not s:
            self.equal(len(rows["job"]), 0, "rows without a series")
            return
        until = self.until()
        for name, area in (("busy_gpus", sum((rows["end_us"][i] - rows["start_us"][i]) * rows["gpus"][i]
                                             for i in range(len(rows["job"])) if not self.guest[i])),
                           ("running_jobs", sum(self.jobs["executed_us"]) + sum(self.jobs["overhead_us"])),
                           ("pending_jobs", sum(p for p, state in zip(self.jobs["pending_us"], self.jobs["state"])
                                                if state != "infeasible"))):
            self.equal(sum(v * (b - a) for v, a, b in zip(s[name], s["t_us"], until)), area, f"series: {name}")
        self.equal(s["finished_jobs"][-1], sum(state in ("finished", "declined") for state in self.jobs["state"]),
                   "series: finished_jobs")

    # ---- the summary

    def summary(self):
        jobs, run, states = self.jobs, self.run, self.jobs["state"]
        for number, state in (("completed", "finished"), ("infeasible", "infeasible"), ("declined", "declined")):
            self.equal(run[number], states.count(state), number)
        self.equal(run["preemptions"], sum(jobs["preempts"]), "preemptions")
        self.equal(run["resumes"], sum(jobs["resumes"]), "resumes")
        held = sum((self.rows["end_us"][i] - self.rows["start_us"][i]) * self.rows["gpus"][i]
                   for i in range(len(self.guest)) if not self.guest[i]) / 1e6
        self.equal(run["held_gpu_s"], held, "held_gpu_s", 1e-6 * held + 1e-9)
        if not self.case.options.get("checkpoint.cost"):
            useful = sum((self.rows["end_us"][i] - self.rows["start_us"][i]) * self.rows["gpus"][i]
                         for i in range(len(self.guest)) if not self.guest[i] and self.rows["rate"][i] > 0) / 1e6
            self.equal(run["useful_gpu_s"], useful, "useful_gpu_s", 1e-6 * held + 1e-9)
        if any(self.guest):
            shared = sum((self.rows["end_us"][i] - self.rows["start_us"][i]) * self.rows["gpus"][i]
                         for i in range(len(self.guest)) if self.guest[i]) / 1e6
            self.equal(run["guest_gpu_s"], shared, "guest_gpu_s", 1e-9 * shared + 1e-9)
        if "lost_us" in jobs:  # NaN: nobody ran
            ratio = run["effective_training_ratio"]
            self.test.assertFalse(ratio < -1e-9 or ratio > 1 + 1e-9, ratio)
        span = run["span_s"]
        if span:
            self.equal(run["utilisation"], held / (span * run["total_gpus"]), "utilisation", 1e-9)
        last = max(jobs["submit_us"]) - run["cooldown_s"] * 1e6
        counted = [j for j in range(self.n) if states[j] == "finished" and
                   self.first + run["warmup_s"] * 1e6 <= jobs["submit_us"][j] <= last]
        for name, values in (("jct", [jobs["end_us"][j] - jobs["submit_us"][j] for j in counted]),
                             ("queue", [jobs["pending_us"][j] for j in counted]),
                             ("first_start", [jobs["start_us"][j] - jobs["submit_us"][j] for j in counted])):
            values = sorted(v / 1e6 for v in values)
            self.equal(run[f"{name}_n"], len(values), f"{name}_n")
            if values:
                near = 1e-9 * values[-1] + 1e-12
                self.equal(run[f"{name}_mean_s"], sum(values) / len(values), f"{name}_mean_s", near)
                self.equal(run[f"{name}_median_s"], quantile(values, 0.5), f"{name}_median_s", near)
                self.equal(run[f"{name}_p95_s"], quantile(values, 0.95), f"{name}_p95_s", near)
                self.equal(run[f"{name}_max_s"], values[-1], f"{name}_max_s", near)
        slow = [(jobs["end_us"][j] - jobs["submit_us"][j]) / jobs["duration_us"][j] for j in counted if jobs["duration_us"][j]]
        if slow:
            self.equal(run["slowdown_mean"], sum(slow) / len(slow), "slowdown_mean", 1e-9 * sum(slow))
        ends = [end for end in jobs["end_us"] if end >= 0]
        if ends:
            self.equal(run["makespan_s"], (max(ends) - self.first) / 1e6, "makespan_s", 1e-6)
        deadlines = jobs.get("deadline_us", [])
        self.equal(run["deadlines_met"], sum(state == "finished" and 0 <= jobs["end_us"][j] <= deadlines[j] and deadlines[j] >= 0
                                             for j, state in enumerate(states) if len(deadlines)), "deadlines_met")

    # ---- energy

    def energy(self):
        run, rows, pue = self.run, self.rows, self.case.options["energy.pue"]
        joules = [0.0] * self.n
        for i, job in enumerate(rows["job"]):
            if rows["node"][i] < 0:
                return
            rest, most = WATTS[self.case.nodes[rows["node"][i]][0]]
            watts = 0.5 * (most - rest) * (rows["rate"][i] > 0) + (0 if self.guest[i] else rest)
            joules[job] += pue * watts * rows["gpus"][i] * (rows["end_us"][i] - rows["start_us"][i]) / 1e6
        near = 1e-9 * sum(joules) + 1e-9
        for job, said in enumerate(self.jobs["energy_j"]):
            if "guest" not in rows:
                self.equal(said, joules[job], f"job {job}: energy_j", near)
            self.equal(self.jobs["cost"][job], said / 3.6e6 * 0.25, f"job {job}: cost", near + 1e-9)
        self.equal(run["jobs_kwh"], sum(self.jobs["energy_j"]) / 3.6e6, "jobs_kwh", near)
        self.equal(run["nodes_kwh"], 100 * len(self.case.nodes) * run["span_s"] * pue / 3.6e6, "nodes_kwh", 1e-9 * run["nodes_kwh"])
        total = run["jobs_kwh"] + run["idle_kwh"] + run["nodes_kwh"]
        self.equal(run["energy_kwh"], total, "energy_kwh", 1e-9 * total)
        self.equal(run["cost"], 0.25 * total, "cost", 1e-9 * total + 1e-15)  # times are floating-point seconds
        s = self.series
        if not s:
            return
        until = self.until()
        area = sum(v * (b - a) for v, a, b in zip(s["power_w"], s["t_us"], until)) / 3.6e12
        self.equal(area, total, "power_w over time", 1e-6 * total)
        idle = -sum((rows["end_us"][i] - rows["start_us"][i]) * rows["gpus"][i] * WATTS[self.case.nodes[rows["node"][i]][0]][0]
                    for i in range(len(self.guest)) if not self.guest[i]) / 1e6
        idle += run["span_s"] * sum(WATTS[kind][0] * gpus for kind, gpus in self.case.nodes)
        self.equal(run["idle_kwh"], pue * idle / 3.6e6, "idle_kwh", 1e-9 * total + 1e-12)


class Invariants(unittest.TestCase):
    def test_cases(self):
        schedulers, placements = named("schedulers"), named("placements")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        first = int(os.environ.get("DLSIM_FIRST", 0))
        cases = int(os.environ.get("DLSIM_CASES", 30 if os.environ.get("DLSIM_SANITIZE") == "1" else 250))
        self.ran, self.refused = 0, collections.Counter()
        for number in range(first, first + cases):
            # Neighbours differ in everything: 1009 is prime.
            case = Case(number * 1009, schedulers, placements)
            with self.subTest(case=number, scheduler=case.scheduler, placement=case.placement):
                self.one(case)
        if "DLSIM_CASES" in os.environ:
            for what, times in self.refused.most_common():
                print(times, what)
        self.assertGreaterEqual(self.ran, cases * 0.6)

    def go(self, case, options=None):
        if case.down and "failures.trace" not in case.options:
            case.options["failures.trace"] = os.path.join(self.folder, "down.csv")
            if options:
                options["failures.trace"] = case.options["failures.trace"]
        if case.down:
            events = sorted([(since, 1, f"{since},{node},fail") for node, since, _ in case.down] +
                            [(until, 0, f"{until},{node},repair") for node, _, until in case.down])
            with open(case.options["failures.trace"], "w") as file:
                file.write("\n".join(["time_s,node,event,part", *(line for *_, line in events)]) + "\n")
        return dlsim.run(case.cluster, case.trace, case.scheduler, case.placement, **(options or case.options))

    def one(self, case):
        try:
            run = self.go(case)
        except dlsim.Error as error:
            self.assertNotIsInstance(error, dlsim.RunError, str(error))
            self.refused[f"{type(error).__name__}: {str(error)[:150]}"] += 1
            return
        self.ran += 1
        Judge(self, case, run).all()
        r = case.random
        what = r.randrange(4)
        if what == 0:
            self.cloned(case, run)
        elif what == 1:
            self.written(run)
        elif what == 2:
            self.cut(case, run)

    def cloned(self, case, run):
        """Stopped at random times and cloned there, it is the same run."""
        sim = dlsim.Simulation(case.cluster, case.trace, case.scheduler, case.placement, **case.options)
        for t in sorted(case.random.uniform(0, run["span_s"] + 1) for _ in range(2)):
            sim.run(t)
            if sim.finished:
                break
            other = sim.clone()
            self.assertEqual(other.run().result().digest, run.digest, f"of a clone at {t}")
        self.assertEqual(sim.run().result().digest, run.digest, "of the original of a clone")

    def written(self, run):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.h5")
            run.write(path)
            back = dlsim.read(path)
            self.assertEqual(back.digest, run.digest)
            for name in ("jobs", "allocations", "series", "starts", "world"):
                ours, theirs = getattr(run, name).to_dict(), getattr(back, name).to_dict()
                self.assertEqual(list(ours), list(theirs))
                for column in ours:
                    self.assertEqual([str(v) for v in ours[column]], [str(v) for v in theirs[column]], column)
            for name, value in run.numbers.items():
                self.assertEqual(str(back[name]), str(value), name)

    def cut(self, case, run):
        """A run that is stopped agrees with the whole one on all that ended before."""
        t = case.random.uniform(0, run["span_s"])
        if "run.until" in case.options and case.options["run.until"] < 20000:
            return
        part = self.go(case, {**case.options, "run.until": f"{t:.6f} s"})
        for name in ("start_us", "end_us"):
            for j, (a, b) in enumerate(zip(run.jobs[name].to_list(), part.jobs[name].to_list())):
                self.assertEqual(b, a if 0 <= a <= round(t * 1e6) else -1, f"job {j}: {name} of a run until {t}")


if __name__ == "__main__":
    unittest.main()
