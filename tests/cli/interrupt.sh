# SPDX-License-Identifier: GPL-3.0-or-later
# Ctrl-C, kill and the end of a terminal in a long run: exit code 130, a readable file marked
# incomplete. sweep_kill.sh and training.sh do the same to sweeps and trainings.
. "$DLSIM_SOURCE/tests/support/cli.sh"

# Two sliced jobs on one GPU for years: gandiva passes once a minute, far longer than this test waits.
cat >slow.cfg <<'END'
schema_version = 1;
cluster: { nodes = ({ count = 1; gpus = 1; gpu_type = "V100"; }); };
scheduler: { name = "gandiva"; };
END
printf 'job_id,num_gpu,submit_time,duration\n' >slow.csv
for i in 1 2 3 4; do
    echo "$i,1,0,7000000000" >>slow.csv
done
# cut SIGNAL WORDS...: the command is sent the signal when it has run for a while.
cut() {
    # Background jobs of a script ignore SIGINT unless it is given back to them.
    python3 - "$dlsim" "$@" <<'END' || fail "$*"
import re, signal, subprocess, sys, time
def as_in_a_terminal():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_IGN if sys.argv[2] == "nohup" else signal.SIG_DFL)
run = subprocess.Popen([sys.argv[1]] + sys.argv[3:], stdout=open("out.txt", "w"),
                       stderr=open("err.txt", "w"), preexec_fn=as_in_a_terminal)
for _ in range(1200): # until it minds SIGTERM
    if int(re.search(r"SigCgt:\s*(\w+)", open(f"/proc/{run.pid}/status").read()).group(1), 16) >> signal.SIGTERM - 1 & 1:
        break
    time.sleep(0.05)
time.sleep(0.5)
assert run.poll() is None, "the run was over before it could be interrupted: make it longer"
if sys.argv[2] == "nohup":
    run.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    assert run.poll() is None, "nohup does not keep it"
run.send_signal(signal.SIGTERM if sys.argv[2] == "nohup" else getattr(signal, "SIG" + sys.argv[2]))
code = run.wait(timeout=60)
assert code == 130, code
END
    says err.txt "interrupted"
}
for how in INT TERM HUP nohup; do
    cut $how --config=slow.cfg --trace=slow.csv -o cut.h5 --force --set results.allocations=false \
        --set results.series=false
    says out.txt "jobs"
    expect 0 inspect cut.h5
    expect 0 inspect cut.h5 --json
    test ! -e cut.h5.part || fail "a part was left"
    if command -v h5dump >/dev/null; then
        h5dump -a /runs/0/complete cut.h5 >dump.txt
        grep -q "(0): 0" dump.txt || fail "not marked incomplete: $(cat dump.txt)"
    fi
done

# The same for the other simulator.
printf 'job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n' >tf.csv
for i in 1 2 3 4; do
    echo "$i,1,0,1,resnet50,2000000000,1" >>tf.csv
done
for how in INT TERM; do
    cut $how tiresias --trace_file=tf.csv --num_switch=1 --num_node_p_switch=1 --num_gpu_p_node=1 \
        --schedule=gandiva --scheme=gandiva --log_path=logs
    head -1 logs/job.csv | grep -q job_id || fail "the logs are not readable"
    rm -r logs
done
echo "$checks checks"
