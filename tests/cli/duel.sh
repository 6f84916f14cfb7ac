# SPDX-License-Identifier: GPL-3.0-or-later
# tests/bench/duel in a small form: SimPy's results are ours, where Python has it, and those of AccaSim and SimGrid, where they
# are; a program in the place of Tiresias is asked as that is, and told apart when its results are others.
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
echo "6 checks"
