# SPDX-License-Identifier: GPL-3.0-or-later
"""Submits jobs that sleep to a Slurm, at random times within a span: SEED JOBS SECONDS NODES USERS.

In the environment: WITHOUT_GPUS=0.3, that part of the jobs asks for 8 to 48 processors of one node and no GPU; PARTITIONS="a b", a
partition of these for each job, those named twice twice as often; QOS likewise; MEMORY=64, up to so many GiB a GPU; DEPENDENT=0.1,
that part of the jobs waits for one submitted before (afterany), or for all of its name and user (singleton)."""
import os
import random
import subprocess
import sys
import time

seed, jobs, seconds, nodes, users = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5])
rng = random.Random(seed)
NAMES = ["games", "man", "lp", "mail", "news", "uucp"][:users]
ACCOUNT = {"games": "vision", "man": "vision", "lp": "text", "mail": "text", "news": "speech", "uucp": "speech"}
SIZES = [s for s in (1, 2, 4, 8, 16, 32) if s <= 8 * nodes]
WEIGHTS = [.42, .16, .16, .16, .07, .03][:len(SIZES)]
WITHOUT_GPUS = float(os.environ.get("WITHOUT_GPUS", "0"))
PARTITIONS = os.environ.get("PARTITIONS", "").split()
QOS = os.environ.get("QOS", "").split()
MEMORY = int(os.environ.get("MEMORY", "0"))
DEPENDENT = float(os.environ.get("DEPENDENT", "0"))
plan, before = [], []
for _ in range(jobs):
    gpus = rng.choices(SIZES, WEIGHTS)[0]
    run = min(150, max(3, rng.lognormvariate(3.2, .9)))
    limit = max(1, int(-(-run * rng.uniform(1.0, 3.5) // 60)))
    user = rng.choices(NAMES, [5, 3, 2, 1, 1, 1][:users])[0] if users else None
    at = rng.uniform(0, seconds)
    if WITHOUT_GPUS and rng.random() < WITHOUT_GPUS:
        asked = ["-N", "1", "-n", "1", "-c", str(rng.choice([8, 16, 32, 48]))]
    else:
        asked = ["-N", str(max(1, gpus // 8)), f"--gres=gpu:{min(gpus, 8)}"] + os.environ.get("SUBMIT", "").split()
    if PARTITIONS:
        asked += ["-p", rng.choice(PARTITIONS)]
    if QOS:
        asked += [f"--qos={rng.choice(QOS)}"]
    if MEMORY:
        asked += [f"--mem={rng.randint(1, MEMORY) * min(gpus, 8)}G"]
    waits = rng.choice(["singleton", "afterany"]) if DEPENDENT and rng.random() < DEPENDENT else ""
    plan.append((at, asked, run, limit, user or "", waits))
plan.sort()
began = time.time()
for at, asked, run, limit, user, waits in plan:
    time.sleep(max(0, began + at - time.time()))
    command = ["sbatch", "-o", "/dev/null", "--chdir=/tmp", "-t", str(limit)] + asked
    if user:
        command += [f"--uid={user}", "-A", ACCOUNT[user]]
    if waits == "singleton":
        command += ["-J", "alone", "--dependency=singleton"]
    elif waits and before:
        command += [f"--dependency=afterany:{rng.choice(before[-20:])}"]
    command += ["--parsable", "--wrap", f"sleep {run:.1f}"]
    before.append(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.strip())
