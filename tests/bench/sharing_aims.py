# SPDX-License-Identifier: GPL-3.0-or-later
# Processor time of what docs/schedulers-sharing.md has aims for, whole programs, the least of some runs, aims beside:
#   sharing_aims.py DLSIM SHARED          5 runs each
#   sharing_aims.py DLSIM SHARED --smoke  one of each, whatever it takes; 77 where SHARED has not the data
import csv
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

DLSIM, SHARED = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
SOURCE = pathlib.Path(__file__).resolve().parents[2]
RUNS = 1 if "--smoke" in sys.argv else 5
MURI, JULY = SHARED / "data/muri_philly_vcs", SHARED / "golden/lucid/july_jobs.csv"
LUCID, OPENB = SHARED / "golden/lucid", SHARED / "data/alibaba_openb_2023"
DAY = 86400


def seconds(*command):
    def used():
        u = resource.getrusage(resource.RUSAGE_CHILDREN)
        return u.ru_utime + u.ru_stime

    least = float("inf")
    for _ in range(RUNS):
        before = used()
        subprocess.run([DLSIM, *map(str, command), "-q", "--force"], check=True, stdout=subprocess.DEVNULL)
        least = min(least, used() - before)
    return least


def muri():
    """The first 992 jobs of trace 1 on 64 GPUs, stages as the traces have them."""
    rows = [r for path in sorted(MURI.glob("trace*.csv")) for r in csv.DictReader(open(path))]
    stages = {(r["model_name"], r["num_gpu"]): [r[f"resource_time_{k}"] for k in range(3)] + [r["iteration_time"]]
              for r in reversed(rows)}
    with open("stages.csv", "w") as out:
        print("model,gpus,data_s,compute_s,exchange_s,iteration_s", file=out)
        for (model, gpus), ms in stages.items():
            print(model, gpus, *(float(x) / 1000 for x in ms), sep=",", file=out)
    pathlib.Path("muri.cfg").write_text(
        'schema_version = 1; cluster: { nodes = ({ count = 8; gpus = 8; gpu_type = "V100"; }); };'
        'scheduler: { name = "muri-s"; restore_cost = "30 s"; stages = "stages.csv"; };'
        'perf: { stages = "stages.csv"; };')
    return seconds("run", "--config=muri.cfg", f"--trace={MURI}/trace1.csv", "--set", "trace.max_jobs=992",
                   "--set", "results.allocations=false", "--set", "results.series=false",
                   "-o", "muri.h5")


def lucid():
    """Five times the 1,039 jobs of six days, one after the other."""
    rows = list(csv.DictReader(open(JULY)))
    with open("month.csv", "w") as out:
        table = csv.DictWriter(out, rows[0])
        table.writeheader()
        for k in range(5):
            for r in rows:
                table.writerow({**r, "job_id": int(r["job_id"]) + 1000000 * k, "submit": int(r["submit"]) + 6 * DAY * k})
    return seconds("lucid", "--vcs=va:7,vb:4,vc:2", "--profiler=va:2", f"--pairs={LUCID}/colocate_info.csv",
                   f"--forecast={LUCID}/forecast.csv", "month.csv", "-o", "month.out.csv")


def fgd():
    return seconds("fgd", f"--nodes={OPENB}/openb_node_list_gpu_node.csv", OPENB / "openb_pod_list_default.csv",
                   "--sweep=10", "-o", "sweep.csv")


def cassini():
    subprocess.run([DLSIM, "trace", "generate", "--profile=philly", "--jobs=10000", "--gpus=1024", "--load=0.9",
                    "--seed=1", "-q", "-o", "t10k.csv"], check=True)
    counts = [x for k, n in enumerate((32, 32, 64, 32)) for x in ("--set", f"cluster.nodes[{k}].count={n}")]
    spent = [seconds("run", f"--config={SOURCE}/configs/placement-study.cfg", "--trace=t10k.csv", *counts,
                     f"--placement={p}", "--set", "results.allocations=false", "-o", f"{p}.h5")
             for p in ("consolidated", "cassini")]
    return spent[1] / spent[0]


if not all(p.exists() for p in (MURI, JULY, OPENB)):
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for name, aim, unit, measure in (("Muri-S, 992 jobs on 64 GPUs", 0.1, "s", muri),
                                     ("Lucid, a month of 5,195 jobs", 0.5, "s", lucid),
                                     ("FGD, a sweep of 10 seeds", 5, "s", fgd),
                                     ("CASSINI over consolidated, 1,024 GPUs, 10,000 jobs", 2, "times", cassini)):
        print(f"{name:52} {measure():7.3f} {unit:5}  aim {aim}", flush=True)
