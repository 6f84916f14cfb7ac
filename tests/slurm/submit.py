# SPDX-License-Identifier: GPL-3.0-or-later
"""Submits jobs that sleep to a Slurm, at random times within a span: SEED JOBS SECONDS NODES USERS.

In the environment: WITHOUT_GPUS=0.3, that part of the jobs asks for 8 to 48 processors of one node and no GPU; PARTITIONS="a b", a
partition of these for each job, those named twice twice as often."""
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
plan = []
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
    plan.append((at, asked, run, limit, user or ""))
plan.sort()
began = time.time()
for at, asked, run, limit, user in plan:
    time.sleep(max(0, began + at - time.time()))
    command = ["sbatch", "-o", "/dev/null", "--chdir=/tmp", "-t", str(limit)] + asked
    if user:
        command += [f"--uid={user}", "-A", ACCOUNT[user]]
    subprocess.run(command + ["--wrap", f"sleep {run:.1f}"], stdout=subprocess.DEVNULL, check=True)
