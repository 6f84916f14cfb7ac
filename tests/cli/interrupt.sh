# SPDX-License-Identifier: GPL-3.0-or-later
# Ctrl-C in a long run: exit code 130, a readable file marked incomplete.
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
# Background jobs of a script ignore SIGINT unless it is given back to them.
python3 - "$dlsim" <<'END' || fail "interrupt"
import signal, subprocess, sys, time
run = subprocess.Popen([sys.argv[1], "--config=slow.cfg", "--trace=slow.csv", "-o", "cut.h5",
                        "--set", "results.allocations=false", "--set", "results.series=false"],
                       stdout=open("out.txt", "w"), stderr=open("err.txt", "w"),
                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
time.sleep(1.0)
assert run.poll() is None, "the run was over before it could be interrupted: make it longer"
run.send_signal(signal.SIGINT)
code = run.wait(timeout=60)
assert code == 130, code
END
says err.txt "interrupted"
says out.txt "jobs"
expect 0 inspect cut.h5
expect 0 inspect cut.h5 --json
test ! -e cut.h5.part || fail "a part was left"
if command -v h5dump >/dev/null; then
    h5dump -a /runs/0/complete cut.h5 >dump.txt
    grep -q "(0): 0" dump.txt || fail "not marked incomplete: $(cat dump.txt)"
fi
echo "$checks checks"
