# SPDX-License-Identifier: GPL-3.0-or-later
# tests/bench/duel in a small form: SimPy's results are ours, where Python has it, and those of AccaSim and SimGrid, where they
# are; programs in the place of Tiresias and Gavel are asked as those are, and told apart when their results are others. That of Gavel prints
# what the published one did (its completion times of the data that is not part of this source), or dlsim's own where they are not here.
. "$DLSIM_SOURCE/tests/support/cli.sh"
python=$(dirname "$dlsim")/python/venv/bin/python # python.run, which comes before, made it
"$python" -c 'import simpy' 2>/dev/null || { echo "skipped: no Python module: simpy"; exit 77; }
duel="$python $source/tests/bench/duel --dlsim=$dlsim --jobs=300 --gpus=64 --runs=1"
$duel >out.txt 2>err.txt || fail "SimPy: $(cat err.txt)"
for other in AccaSim SimGrid; do # each is in the table, or it is said that it is not here
    grep -q "^| $other, fifo | 300 jobs, 64 GPUs | equal |" out.txt || grep -q "^$other: no " err.txt || fail "$other: $(cat out.txt err.txt)"
done
grep -q '^| SimPy, fifo | 300 jobs, 64 GPUs | equal |' out.txt || fail "$(cat out.txt)"
mkdir other
printf 'num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n1,2,4,40,256\n' |
    tee other/n32g4.csv >other/n256g8.csv
printf 'job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n0,8,0,606,vgg19,164,30\n1,8,30,133,vgg11,147,23\n' \
    >other/60_job.csv
cat >other/run_sim.py <<END
import os, subprocess, sys
subprocess.run(["$dlsim", "tiresias", *sys.argv[1:]], check=True)
if os.environ.get("WRONG"):
    log = sys.argv[-1].split("=")[1] + "/job.csv"
    text = open(log).read()
    open(log, "w").write(text.replace("164", "165"))
END
PYTHON2=python3 $duel --tiresias=other >out.txt || fail "a program that gives the same"
test "$(grep -c '^| Tiresias, dlas-gpu | 2 jobs' out.txt)" -eq 2 || fail "$(cat out.txt)"
! WRONG=1 PYTHON2=python3 $duel --tiresias=other >out.txt 2>err.txt || fail "a program that gives other results"
grep -q 'job.csv differs' err.txt || fail "$(cat err.txt)"
traces=other/scheduler/traces/physical_cluster
mkdir -p $traces other/scheduler/scripts/drivers
data=$DLSIM_SHARED/data/gavel golden=$DLSIM_SHARED/golden/gavel/runs
if test -d "$golden"; then
    cp "$data/simulation_throughputs.json" other/scheduler
    cp "$data"/traces/physical_cluster/{artifact_evaluation,max_min_fairness}.trace $traces
else
    cat >other/scheduler/simulation_throughputs.json <<END
{"v100": {"('ResNet-18 (batch size 64)', 1)": {"null": 20}}, "p100": {"('ResNet-18 (batch size 64)', 1)": {"null": 10}},
 "k80": {"('ResNet-18 (batch size 64)', 1)": {"null": 5}}}
END
    for i in 0 1 2 3 4 5 6 7; do
        printf 'ResNet-18 (batch size 64)\tpython3 main.py --batch_size 64\timage\t--num_steps\t0\t%d\t1\t1\t-1\t%d\n' $((20000 + 3000 * i)) $((200 * i))
    done | tee $traces/artifact_evaluation.trace >$traces/max_min_fairness.trace
fi
cat >other/scheduler/scripts/drivers/simulate_scheduler_with_trace.py <<END
import argparse, csv, os, pathlib, subprocess
parser = argparse.ArgumentParser()
for key in ("-t", "-p", "-c", "--num_gpus_per_server", "--seed", "--throughputs_file", "--time_per_iteration"):
    parser.add_argument(key, required=True)
a = parser.parse_args()
assert a.seed == "0" and a.time_per_iteration == "360"
name = {"artifact_evaluation": "art", "max_min_fairness": "mmf"}[pathlib.Path(a.t).stem]
table = pathlib.Path("$golden") / f"{name}__{a.c.replace(':', '-')}__{a.p}.csv"
if table.exists():
    text = table.read_text()
else:
    v, p, k = a.c.split(":")
    text = subprocess.run(["$dlsim", "gavel", "-q", f"--policy={a.p}", f"--throughputs={a.throughputs_file}", f"--v100={v}", f"--p100={p}", f"--k80={k}",
                           "--gpus=" + a.num_gpus_per_server.split(":")[0], "--seed=0", a.t], check=True, capture_output=True, text=True).stdout
print("Job completion times:")
for r in csv.DictReader(text.splitlines()):
    if r["jct"]:
        print("Job %s: %.3f" % (r["job_id"], float(r["jct"]) + 0.01 * bool(os.environ.get("WRONG"))))
END
$duel --gavel=other >out.txt 2>err.txt || fail "a program in the place of Gavel: $(cat err.txt)"
test "$(grep -c '^| Gavel, ' out.txt)" -eq 6 || fail "$(cat out.txt)"
! WRONG=1 $duel --gavel=other >out.txt 2>err.txt || fail "a Gavel that gives other results"
grep -q 'Gavel, artifact_evaluation, isolated: .* differ' err.txt || fail "$(cat err.txt)"
echo "9 checks"
