#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random workloads, clusters and seeds: what dlsim replays against independent references.

    scheduler_cases.py <dlsim> <published data> <first seed> <last seed>

Jobs are drawn from the published traces, their times and the cluster anew. ElasticFlow with admission, Optimus and
Tiresias of Pollux's simulator, the policies of Gavel and Shockwave that solve nothing: completion times of all jobs
to 1e-3 s. Left out is what a reference does not define: placements that were not measured, quotas below one GPU (it
stops), and gaps in which a cluster of Gavel's is empty (it lets the next job in before it has come).
"""
import csv
import glob
import os
import random
import subprocess
import sys

DLSIM, SHARED = sys.argv[1:3]
TOOLS, GOLDEN, DATA = (os.path.join(SHARED, d) for d in ("tools", "golden", "data"))


def rows(text):
    return list(csv.DictReader(text.splitlines()))


def table(path):
    with open(path) as f:
        return list(csv.DictReader(f))


def write(name, jobs):
    with open(name, "w") as f:
        out = csv.DictWriter(f, list(jobs[0]))
        out.writeheader()
        out.writerows(jobs)


def output(*command):
    """What a command says, or None if it stops with an error."""
    done = subprocess.run(list(command), capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def reference(name, *words):
    return output(sys.executable, os.path.join(TOOLS, name), *words)


def dlsim(*words):
    return output(DLSIM, *words, "-q")


def elasticflow(rng):
    kind = rng.choice(["A100", "T4"])
    folder = DATA + "/elasticflow_a100_t4/"
    jobs = table(folder + "traces_for_ElasticFlow/philly_103959.csv" if kind == "A100" else GOLDEN + "/elasticflow/traces/vpollux.csv")
    n = rng.choice([10, 30, 60])
    jobs = sorted(rng.sample(jobs, n), key=lambda x: int(x["submit_time"]))
    first, pace = int(jobs[0]["submit_time"]), rng.choice([.02, .1, .3, 1])
    for j in jobs:
        due = int(j["ddl"]) - int(j["submit_time"])
        j["submit_time"] = int((int(j["submit_time"]) - first) * pace)
        j["ddl"] = j["submit_time"] + int(due * rng.choice([.5, 1, 1, 1.3, 2]))
    for i, j in enumerate(jobs):
        j["job_id"] = i
    write("jobs.csv", jobs)
    nodes, gpus = rng.choice([("1", "4"), ("2", "8"), ("4", "8"), ("8", "4"), ("16", "4"), ("1", "8"), ("32", "8")])
    slot = rng.choice(["30", "60", "240"])
    yield ("ef-accessctrl", reference("elasticflow_reference.py", "jobs.csv", folder + "scheduler/throughputs_" + kind, nodes, gpus, slot, kind),
           dlsim("elasticflow", "--throughputs=" + folder + "scheduler", "--gpu-type=" + kind, "--nodes=" + nodes, "--gpus=" + gpus,
                 "--slot=" + slot, "jobs.csv"), ("status", "start", "end"))


def pollux(rng):
    pool = [j for f in sorted(glob.glob(GOLDEN + "/pollux/workloads/**/*.csv", recursive=True)) for j in table(f)]
    n = rng.choice([20, 60, 120])
    jobs, pace = rng.sample(pool, n), rng.choice([.1, .4, 1, 2])
    for j in jobs:
        j["time"] = int(float(j["time"]) * pace * n / 160)
    jobs.sort(key=lambda x: x["time"])
    for i, j in enumerate(jobs):
        j["name"] = f"{j['application']}-{i}"
    write("jobs.csv", jobs)
    points, profiles = GOLDEN + "/pollux/points.csv", DATA + "/pollux_aws_t4"
    for policy in ("optimus", "tiresias"):
        yield (policy, reference("elastic_reference.py", policy, "jobs.csv", points, profiles),
               dlsim("pollux", "--schedule=" + policy, "--profiles=" + profiles, "--points=" + points, "jobs.csv"), ("jct",))


def gavel(rng):
    fork = rng.random() < .25
    pool = []
    for path in sorted(glob.glob(DATA + "/shockwave_tacc/traces/reproduce/120*dynamic.trace") if fork else
                       glob.glob(GOLDEN + "/gavel/traces/*.trace")):
        with open(path) as f:
            pool += [line.rstrip("\n").split("\t") for line in f]
    single = rng.random() < .5
    jobs = rng.sample([j for j in pool if not single or j[6] == "1"] if not fork else pool, rng.choice([8, 20, 40]))
    now, pace = 0, rng.choice([0, 100, 300, 600])
    for j in jobs:
        j[-1] = f"{now:.2f}"
        now += rng.expovariate(1 / pace) if pace else 0
    with open("jobs.trace", "w") as f:
        f.writelines("\t".join(j) + "\n" for j in jobs)
    counts = [rng.choice([8, 16, 32]), 0, 0] if fork else [rng.choice([4, 8, 12]), rng.choice([0, 4, 8, 16]), rng.choice([0, 4, 12])]
    server, length, seed = rng.choice("14"), "120" if fork else rng.choice(["120", "360", "600"]), rng.choice("017")
    speeds = DATA + ("/shockwave_tacc/tacc_throughputs.json" if fork else "/gavel/simulation_throughputs.json")
    policies = ["isolated", "gandiva_fair"] if fork else ["isolated", "gandiva_fair", "fifo", "fifo_perf", "fifo_packed", "gandiva"]
    for policy in policies + ["allox"] * (single and not fork):
        known = reference("gavel_reference.py", "--mech", "shockwave" if fork else "gavel", "--trace", "jobs.trace", "--throughputs", speeds,
                          "--cluster", ":".join(map(str, counts)), "--per-server", ":".join(server * 3), "--tpi", length,
                          "--policy", policy, "--seed", seed, "--out", "known.csv")
        if known:
            with open("known.csv") as f:
                known = f.read()
        own = dlsim("gavel", "--policy=" + policy, "--throughputs=" + speeds, *(f"--{t}={n}" for t, n in zip(("v100", "p100", "k80"), counts)),
                    "--gpus=" + server, "--round=" + length + " s", "--seed=" + seed, "jobs.trace", *(["--shockwave"] if fork else []))
        yield policy, None if known and own and gap(rows(own)) else known, own, ("jct",)


def gap(jobs):
    """Whether a job came when every earlier one had ended, or never could."""
    last = 0.0
    for j in jobs:
        if float(j["arrival"]) > last > 0:
            return True
        last = max(last, float(j["end"] or "inf"))
    return False


def near(a, b):
    return a == b or (a and b and a not in ("done", "declined") and abs(float(a) - float(b)) <= 1e-3)


compared = {}
for seed in range(int(sys.argv[3]), int(sys.argv[4]) + 1):
    for system in (elasticflow, pollux, gavel):
        for policy, known, own, columns in system(random.Random(seed)):
            if known is None:
                continue
            assert own is not None, f"{system.__name__} {policy} {seed}: dlsim stops"
            a, b = rows(known), rows(own)
            wrong = [i for i, (x, y) in enumerate(zip(a, b)) if not all(near(x[c], y[c]) for c in columns)]
            assert len(a) == len(b) > 0 and not wrong, f"{system.__name__} {policy} {seed}: jobs {wrong[:5]} of {len(a)} differ"
            runs, n = compared.get((system.__name__, policy), (0, 0))
            compared[system.__name__, policy] = runs + 1, n + len(a)
for (system, policy), (runs, n) in sorted(compared.items()):
    print(f"{system}, {policy}: {n} jobs of {runs} runs equal")
assert len(compared) >= 8, compared
