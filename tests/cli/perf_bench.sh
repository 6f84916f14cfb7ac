# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim perf bench: two jobs in two settings, their bytes and periods against what the job itself counts and
# times; the way to a trained inspector; nothing is left behind by a kill, and the collection goes on after it.
. "$DLSIM_SOURCE/tests/support/cli.sh"
python=${DLSIM_BENCH_PYTHON:-/usr/bin/python3}
"$python" -c 'import importlib.util as u; exit(not u.find_spec("torch"))' || { echo "skipped: no PyTorch for $python (Debian: python3-torch)"; exit 77; }
export DLSIM_BENCH_PYTHON=$python DLSIM_BENCH_TEST=$work

# Processes of this test, but the shells that look for them.
left() {
    grep -lsz "^DLSIM_BENCH_TEST=$work\$" /proc/[0-9]*/environ | while read -r path; do
        grep -lsq -e worker.py -e "perf record" "$(dirname "$path")/cmdline" && echo "$path"
    done || true
}
nothing_left() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        test -z "$(left)" && return
        sleep 0.5
    done
    fail "$1 leaves $(left)"
}

# What is wrong is said in a line.
code=0
expect 0 perf bench list
test "$(wc -l <out.txt)" -ge 60 || fail "$(wc -l <out.txt) networks"
expect 1 perf bench network=nosuch output=never.h5
says err.txt "no network 'nosuch'"
expect 2 perf bench network=lenet-0 setting=w9 output=never.h5
says err.txt 'setting "w9": expected'
expect 2 perf bench
DLSIM_BENCH_PYTHON=/nonexistent/python3 expect 1 perf bench network=lenet-0
says err.txt "/nonexistent/python3 is not there"
printf '#!/bin/sh\nexec "%s" -S -c "import sys; sys.modules[\\"torch\\"] = None; sys.argv = sys.argv[1:]; sys.path.insert(0, sys.argv[0][:-9]); exec(open(sys.argv[0]).read())" "$@"\n' "$python" >bare
chmod +x bare
DLSIM_BENCH_PYTHON=$work/bare expect 1 perf bench network=lenet-0
says err.txt "Debian's python3-torch"
nothing_left "a missing framework"

# One worker alone needs nobody's leave.
expect 0 perf bench network=lenet-0 batch=64 setting=w1 seconds=0.3 output=alone.h5
says out.txt "lenet-0 batch 64 w1: step"
expect 0 perf analyze alone.h5 --json
says out.txt '"began_ns"'
expect 5 perf bench network=lenet-0 batch=64 setting=w1 output=alone.h5
says err.txt "alone.h5: is there already (force replaces it)"
if ! unshare -n true 2>/dev/null; then
    expect 1 perf bench network=lenet-0 setting=w2-ar-200m output=never.h5
    says err.txt "need root"
    echo "$checks checks"
    echo "skipped: no network namespaces here: settings with links"
    exit 0
fi

# Bytes within 2 % of the tensors, the period within 5 % of the job's own clock. The machine may be busy with
# other things: one of three recordings has to be so.
job() { # NETWORK BATCH SETTING [WORDS...]
    for _ in 1 2 3; do
        expect 0 perf bench network="$1" batch="$2" setting="$3" seconds=1 json output=job.h5 force "${@:4}"
        tail -1 out.txt >job.json
        python3 - <<'END' && return
import json, sys
run = json.load(open("job.json"))
for way in ("sent", "received"):
    off = run["counted"][way] / run["expected"][way] - 1
    if abs(off) > 0.02:
        sys.exit(f"{way} {off:+.3f} of the tensors")
size = 4 * run["parameters"]
assert run["expected"]["sent"] == size, run
if abs(run["found_s"] / run["step_s"] - 1) > 0.05:
    sys.exit(f"period {run['found_s']:.4f} s, steps {run['step_s']:.4f} s")
rate = {"200m": 25e6, "1g": 125e6}[run["setting"].split("-")[2]]
tx = run["resources"]["net_tx"]
assert tx["mean"] < 1.02 * rate and tx["burst_amount"] < 1.1 * rate, tx  # the link keeps its limit
END
    done
    fail "$*: $(cat job.json)"
}
for setting in w2-ar-200m p1w2-ps-200m; do # the framework's profiler, of the same steps: their length and the tensors exchanged
    job lstm-0 64 $setting profiler
    python3 - <<'END' || fail "the profiler of $setting: $(cat job.json)"
import json
run = json.load(open("job.json"))
seen = run["profiler"]
assert abs(seen["step_s"] / run["step_s"] - 1) < 0.005, seen
assert (seen["sent"], seen["received"]) == (run["expected"]["sent"], run["expected"]["received"]), seen
END
    checks=$((checks + 1))
done
job translator-0 32 w2-ar-200m
job translator-0 32 p1w2-ps-200m
expect 0 perf analyze job.h5 --json --process=server
python3 - <<'END' || fail "the server's bytes"
import json
server = {r["resource"]: r["total"] for r in json.load(open("out.txt"))["resources"]}
run = json.load(open("job.json"))
# Its link carries what both workers send.
assert server["net_rx"] > 1.8 * run["expected"]["sent"] * run["steps"], (server, run)
END
checks=$((checks + 1))
expect 4 perf analyze job.h5 --process=nobody
job translator-0 32 p2w2-ps-200m # of two servers each gets a part, and both together what the workers send
for each in server server-1; do
    expect 0 perf analyze job.h5 --json --process=$each
    cp out.txt $each.json
done
python3 - <<'END' || fail "the two servers' bytes"
import json
got = [next(r["total"] for r in json.load(open(each + ".json"))["resources"] if r["resource"] == "net_rx")
       for each in ("server", "server-1")]
run = json.load(open("job.json"))
sent = run["expected"]["sent"] * run["steps"]
assert 1.8 * sent < sum(got) < 2.3 * sent and min(got) > 0.5 * sent, (got, sent)
END
checks=$((checks + 1))
nothing_left "a job"

# A link without its limit, a namespace that cannot be made.
mkdir unlimited
printf '#!/bin/sh\n' >unlimited/tc
chmod +x unlimited/tc
PATH=$work/unlimited:$PATH expect 1 perf bench network=translator-0 batch=32 setting=w2-ar-200m seconds=0.5 output=fast.h5
says err.txt "its limit is 2.5e+07 B/s"
code=0
setpriv --bounding-set=-sys_admin -- "$dlsim" perf bench network=lenet-0 setting=w2-ar-200m output=never.h5 2>err.txt || code=$?
test $code -eq 1 || fail "without CAP_SYS_ADMIN: exit code $code"
says err.txt "no network namespace can be made"
says err.txt "need root"
test ! -e never.h5 || fail "a recording of a job that could not be started"
nothing_left "a refused job"

# A worker dies in the middle of a recording: said, and nothing is left; a collection starts all of them anew and
# goes on. It dies by a clock of the kernel's, since this shell gets no processor while the job runs; once.
cat >mortal <<END
#!/bin/sh
exec "$python" -S -c '
import os, signal, sys
sys.argv = sys.argv[1:]
sys.path[:] = [os.path.dirname(sys.argv[0])] + $("$python" -c 'import sys; print([p for p in sys.path if p])' | tr "'" '"')
class Commands:
    def __iter__(self):
        for line in real:
            if "\"run\"" in line and not os.path.exists("dead.once"):
                open("dead.once", "w").close()
                signal.setitimer(signal.ITIMER_REAL, 0.5)
            yield line
if sys.argv[1:] == [os.environ["DLSIM_BENCH_DIES"]]:
    real, sys.stdin = sys.stdin, Commands()
exec(open(sys.argv[0]).read())' "\$@"
END
chmod +x mortal
dying() { # CODE ROLE WORDS...
    rm -f dead.once
    DLSIM_BENCH_DIES=$2 DLSIM_BENCH_PYTHON=$work/mortal expect "$1" perf bench "${@:3}"
    test -e dead.once || fail "$2 did not die"
    nothing_left "a job whose $2 died"
}
dying 1 w1 network=lenet-0 batch=64 setting=p1w2-ps-200m seconds=4 output=dead.h5
says err.txt "dlsim perf bench: w1 died, exit code -14"
dying 0 w0 all=dead networks=1 settings=w2-ar-200m repeat=1 seconds=1
says err.txt "all processes are started anew"
test "$(wc -l <dead/runs.jsonl)" -eq 2 || fail "runs: $(cat dead/runs.jsonl)"
checks=$((checks + 1))

# Killed in the middle, without a chance to tidy up; then the rest, and what was done is not done again.
set -- all=set networks=1 settings=w1,p1w2-ps-200m,p2w2-ps-200m,p2w2-ps-200m-shared repeat=1 seconds=0.3
"$dlsim" perf bench "$@" >all.txt 2>&1 &
pid=$!
for _ in $(seq 600); do
    grep -q "w1: step" all.txt && break
    sleep 0.1
done
kill -9 $pid
wait $pid 2>/dev/null || true
nothing_left "a kill"
for pid in $(pgrep -x 'ksoftirqd/.*'); do
    test "$(ps -o ni= -p "$pid")" -eq 0 || fail "ksoftirqd keeps the priority"
done
done_before=$(wc -l <set/runs.jsonl)
printf '{"network": "lenet-0", "ba' >>set/runs.jsonl # as if the kill had cut a line
batch=$(python3 -c 'import json; print(json.load(open("set/plan.json"))["lenet-0"][0])')
cp alone.h5 "set/recordings/lenet-0_${batch}_p1w2-ps-200m_0.h5" # or had come between a recording and its line
python3 "$source/predictor/measure/bench/labels.py" set/runs.jsonl >labels.csv 2>err.txt || fail "labels of a cut table: $(cat err.txt)"
says err.txt "runs.jsonl:$((done_before + 1)): cut off, left out"
test "$(wc -l <labels.csv)" -eq $((done_before + 1)) || fail "labels of a cut table: $(cat labels.csv)"
expect 0 perf bench "$@"
says out.txt "/$((8 - done_before)), "
test "$(wc -l <set/runs.jsonl)" -eq 8 || fail "runs: $(cat set/runs.jsonl)"
nothing_left "a collection"

# Behind a shared uplink a worker's own link has no limit, in a collection either: it fills the uplink's queue at once.
python3 - <<'END' || fail "a collection behind one uplink: $(cat set/runs.jsonl)"
import json
peak = {}
for line in open("set/runs.jsonl"):
    r = json.loads(line)
    peak.setdefault(r["setting"], []).append(r["resources"]["net_tx"]["burst_amount"] / 25e6)
assert max(peak["p2w2-ps-200m"]) < 1.3 < 1.5 < max(peak["p2w2-ps-200m-shared"]), peak
END
checks=$((checks + 1))

# To an inspector.
expect 0 perf bench export=graphs network=lenet-0
expect 0 graph import graphs/lenet-0.onnx --batch=16 --training --optimiser=sgd -o lenet.h5
expect 0 graph show lenet.h5
grep -q 'parameters *61706 ' out.txt || fail "the exported network: $(cat out.txt)"
python3 "$source/predictor/measure/bench/labels.py" set/runs.jsonl >every.csv
grep -v -e -shared every.csv >labels.csv # of which the settings of a data set have none
expect 0 dataset build -o set.h5 --labels=labels.csv --graphs=graphs --settings=bench --groups=4 --features=kernels
expect 0 dataset show set.h5
says out.txt measured
sed 's/lenet-0,lenet/lenet-0,other/; s/w1,/w7,/' labels.csv >wrong.csv
expect 4 dataset build -o never.h5 --labels=wrong.csv --graphs=graphs --settings=bench
says err.txt "wrong.csv:"
says err.txt "a setting that --settings does not have"
expect 2 dataset build -o never.h5 --labels=labels.csv
echo "$checks checks"
