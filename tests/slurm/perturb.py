# SPDX-License-Identifier: GPL-3.0-or-later
"""How much hangs on parts of a second: SITE OUT SEED SECONDS.

Copies a site that `dlsim import slurm --log` made and moves at random what its log knows between seconds: submissions of jobs of GPUs by
up to SECONDS earlier (those of one second keep their order), ends by up to as much in either direction. When the schedulers ran
stays as logged. `dlsim fidelity OUT` says what becomes of the starts."""
import csv
import random
import shutil
import sys

site, out, seed, most = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
rng = random.Random(seed)
shutil.copytree(site, out, dirs_exist_ok=True)
with open(f"{site}/trace.csv") as f:
    epoch, *lines = f.readlines()
rows = list(csv.DictReader(lines))
for second in {int(float(r["submit_time"])) for r in rows}:
    there = [r for r in rows if int(float(r["submit_time"])) == second]
    for row, at in zip(there, sorted(max(0, float(r["submit_time"]) - most * rng.random()) for r in there)):
        start = float(row["submit_time"]) + float(row["queue"])
        row["submit_time"], row["queue"] = f"{at:.6f}", f"{start - at:.6f}"
for row in rows:
    row["duration"] = f"{max(.001, float(row['duration']) + most * (rng.random() - rng.random())):.6f}"
rows.sort(key=lambda r: float(r["submit_time"]))
with open(f"{out}/trace.csv", "w") as f:
    f.write(epoch)
    table = csv.DictWriter(f, rows[0], lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
