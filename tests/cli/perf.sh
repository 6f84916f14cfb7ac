# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim perf: bursts of known length on a machine and under a GPU driver of our own making; counters of
# the real one; every command of docs/perf.md; exit codes and signals.
. "$DLSIM_SOURCE/tests/support/cli.sh"

# A driver with one GPU of 16 GiB that works 0.2 s of every 0.5 s.
cat >nvml.c <<'END'
#include <time.h>
typedef struct { unsigned int gpu, memory; } utilization;
typedef struct { unsigned long long total, free, used; } memory;
static struct timespec began;
int nvmlInit_v2(void) { return clock_gettime(CLOCK_MONOTONIC, &began); }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned int *n) { *n = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int i, void **to) { *to = &began; return (int)i; }
int nvmlDeviceGetUtilizationRates(void *device, utilization *to)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    long ms = (t.tv_sec - began.tv_sec) * 1000 + (t.tv_nsec - began.tv_nsec) / 1000000;
    to->gpu = ms % 500 < 200 ? 90 : 3;
    to->memory = ms % 500 < 200 ? 40 : 0;
    return device != &began;
}
int nvmlDeviceGetMemoryInfo(void *device, memory *to)
{
    to->total = 16ull << 30;
    to->used = 4ull << 30;
    to->free = to->total - to->used;
    return device != &began;
}
END
mkdir driver
${CC:-cc} -shared -fPIC -o driver/libnvidia-ml.so.1 nvml.c || fail "the driver does not build"

# The analysis, exactly: four seconds of a machine whose time passes only while dlsim sleeps.
${CC:-cc} -shared -fPIC -o machine.so "$source/tests/support/fake_machine.c" ||
    fail "the machine does not build"
mkfifo go
code=0
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 FAKE_GO=$work/go \
    LD_PRELOAD=$work/machine.so LD_LIBRARY_PATH=$work/driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
    "$dlsim" perf record --interval=10ms --interface=lo -o job.h5 -- sh -c ': <go' 2>err.txt ||
    code=$?
test $code -eq 0 || fail "record: $(cat err.txt)"
says err.txt "401 readings of 6 columns in 4.000 s"
expect 0 perf analyze job.h5 --json --interval=100ms
mv out.txt coarse.json
expect 0 perf analyze job.h5 --json
mv out.txt fine.json
cat >check.py <<'END'
import json
# resource: burst, idle, their amounts, mean
# The network repeats every second, so that is the step.
want = {"gpu": (0.2, 0.3, 90, 3, 37.8), "gpu_mem": (0.2, 0.3, 40, 0, 16),
        "net_rx": (0.3, 0.7, 3.2e6, 0, 960000), "net_tx": (0.3, 0.7, 3.2e6, 0, 960000),
        "cpu": (0.25, 0.25, 0.5, 0, 0.25)}
def near(a, b):
    return abs(a - b) <= 1e-6 * max(1, abs(b))
for name in ("coarse.json", "fine.json"):
    job = json.load(open(name))
    step = job["interval_s"]
    assert {r["resource"] for r in job["resources"]} == set(want), job
    for r in job["resources"]:
        burst, idle, high, low, mean = want[r["resource"]]
        assert r["pattern"] == "BIB" and near(r["cycle_s"], burst + idle), (name, r)
        assert abs(r["period_s"] - r["cycle_s"]) < step and r["correlation"] > 0.7, (name, r)
        assert near(r["mean"], mean), (name, r)
        if (burst / step + 1e-9) % 1 < 1e-6: # else a reading is half of each
            assert near(r["burst_s"], burst) and near(r["idle_s"], idle), (name, r)
            assert near(r["burst_amount"], high) and near(r["idle_amount"], low), (name, r)
    profile = job["profile"]
    assert near(profile["gpu_active"], 0.2) and abs(profile["iteration_s"] - 1) < 0.01, profile
    assert near(profile["net_tx_peak"], 3.2e6), profile
END
python3 check.py || fail "the analysis of a known machine"
checks=$((checks + 1))

# The real machine's counters: at least what was sent and computed.
cat >work.py <<'END'
import socket, threading, time
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
peer, _ = server.accept()
def sink():
    while peer.recv(1 << 20):
        pass
thread = threading.Thread(target=sink)
thread.start()
client.sendall(b"x" * (4 << 20))
client.close()
thread.join()
while time.process_time() < 0.3:
    pass
time.sleep(0.5) # a reading after all of it
END
expect 0 perf record --interval=10ms --interface=lo --no-gpu -o real.h5 -- python3 work.py
mv err.txt told.txt
expect 0 perf analyze real.h5 --json
python3 - <<'END' || fail "the real machine: $(cat told.txt out.txt)"
import json, re
span = float(re.search(r"in ([0-9.]+) s", open("told.txt").read()).group(1))
of = {r["resource"]: r["mean"] * span for r in json.load(open("out.txt"))["resources"]}
assert min(of["net_rx"], of["net_tx"]) > 0.95 * (4 << 20) and of["cpu"] > 0.95 * 0.3, (of, span)
END
checks=$((checks + 1))
expect 0 perf analyze job.h5
says out.txt "net_tx"
says out.txt "█"
expect 0 perf analyze job.h5 --gpu=1
grep -q '^gpu ' out.txt && fail "there is no GPU 1"

# A profiler's kernels: ten steps of 50 ms, six layers of 5 ms that compute 4 ms each, an exchange of
# 12 ms and 6 MB that the last layer overlaps by 2 ms; as a table and as PyTorch's profiler writes it.
python3 - <<'END'
import gzip, json
rows, events = [], []
def put(kind, start, length, size=None):
    names = {"compute": ("kernel", "sgemm"), "exchange": ("kernel", "ncclKernel_AllReduce"),
             "step": ("user_annotation", "ProfilerStep#3")}
    rows.append(f"{start},{length},{kind},{'' if size is None else size}")
    category, name = names[kind]
    events.append({"ph": "X", "cat": category, "name": name, "ts": 5e9 + start, "dur": length,
                   "args": {} if size is None else {"bytes": size}})
for step in range(10):
    begin = 50000 * step
    put("step", begin, 50000)
    for layer in range(6):
        put("compute", begin + 5000 * layer, 4000)
    put("exchange", begin + 27000, 12000, 6000000)
events.append({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 5e9, "dur": 9e5})
events.append({"ph": "i", "name": "Iteration Start"})
head = "start_us,duration_us,kind,bytes\n"
open("kernels.csv", "w").write(head + "\n".join(rows) + "\n")
gzip.open("kernels.json.gz", "wt").write(json.dumps({"schemaVersion": 1, "traceEvents": events}))
for event in events:
    if event.get("args"):  # as PyTorch 2 writes it
        event["args"] = {"Collective name": "allreduce", "In msg nelems": 3000000, "Out msg nelems": 3000000,
                         "dtype": "BFloat16", "Group size": 8}
open("elements.json", "w").write(json.dumps(events))
# Another GPU of the same process, which came later and has the smaller number, computes half as long.
for event in [e for e in events if e.get("cat") == "kernel"]:
    event["args"] = {**event["args"], "device": 3}
    if event["name"] == "sgemm":
        events.append({**event, "dur": event["dur"] / 2, "args": {"device": 1}})
open("pair.json", "w").write(json.dumps(events))
for name, bad in (("early", head + "0,5,compute,\n7"), ("sign", head + "0,-5,compute,\n"),
                  ("kind", head + "0,5,thinking,\n"), ("none", head), ("cut", '{"traceEvents": [{'),
                  ("time", '{"traceEvents": [{"ph": "X", "cat": "kernel", "dur": 5}]}'),
                  ("far", '{"traceEvents": [%s]}' % ", ".join('{"ph": "X", "cat": "kernel", "ts": %s, "dur": 5}' % t for t in ("0", "1e130"))),
                  ("other", '{"a": 1}')):
    open(f"bad_{name}", "w").write(bad)
END
expect 0 perf import kernels.csv -o table.h5
says err.txt "median 0.05 s"
expect 0 perf import kernels.json.gz -o trace.h5
expect 0 perf import elements.json -o elements.h5
expect 0 perf import pair.json -o pair.h5
for gpu in 0 1; do
    expect 0 perf analyze pair.h5 --json --interval=1ms --gpu=$gpu
    mv out.txt pair$gpu.json
done
for trace in elements trace; do
    expect 0 perf analyze $trace.h5 --json --interval=1ms
    mv out.txt $trace.json
done
expect 0 perf analyze table.h5 --json
cat >kernels.py <<'END'
import json
table, *traces = (json.load(open(name)) for name in ("out.txt", "trace.json", "elements.json"))
pair = [{r["resource"]: r["mean"] for r in json.load(open(f"pair{gpu}.json"))["resources"]} for gpu in (0, 1)]
assert set(pair[0]) == {"gpu", "compute"} and abs(pair[0]["gpu"] / (100 * 120 / 489) - 1) < 0.02, pair
assert abs(pair[1]["gpu"] / (100 * 340 / 489) - 1) < 0.02 and abs(pair[1]["sent"] / (60e6 / 0.489) - 1) < 0.02, pair
assert all(table["step"] == t["step"] and table["resources"] == t["resources"] for t in traces)
assert abs(table["step"]["seconds"] - 0.05) < 0.0005 and table["step"]["chance"] < 0.02, table["step"]
of = {r["resource"]: r for r in table["resources"]}
assert set(of) == {"gpu", "compute", "exchange", "sent"}, set(of)
mean = lambda r, busy: abs(of[r]["mean"] - busy) < 0.02 * busy
# The recording ends with the last exchange: 489 ms.
assert mean("compute", 100 * 240 / 489) and mean("exchange", 100 * 120 / 489), of
assert mean("gpu", 100 * (240 + 120 - 20) / 489) and mean("sent", 60e6 / 0.489), of
assert abs(of["compute"]["bursts_per_step"] - 6) < 0.3, of["compute"]  # its ends are cut off
assert abs(of["exchange"]["burst_s"] - 0.012) < 1e-9 and of["exchange"]["explained"] > 0.99
assert of["exchange"]["interval_95"]["burst_s"] == {"low": 0.012, "high": 0.012}, of["exchange"]
END
python3 kernels.py || fail "kernels of a profiler: $(cat out.txt)"
checks=$((checks + 1))
expect 0 perf analyze table.h5
says out.txt "step      0.05"
for bad in early sign kind none cut time other far; do
    expect 4 perf import bad_$bad -o never.h5
    says err.txt "bad_$bad"
done
test ! -e never.h5 || fail "a recording of nothing"
expect 4 perf import missing.csv

# Real training, kernel by kernel: its step within 4 % at any interval up to a fifth of it.
series=${DLSIM_SHARED:-none}/data/measured/series
if test -d "$series"; then
    for name in a100_8gpu_rank3:0.0767 v100_32gb_1gpu:0.0956 v100_32gb_2gpu_rank1:0.3475; do
        expect 0 perf import -q "$series/${name%:*}.csv.gz" --force -o series.h5
        for every in 1ms 2ms 5ms 10ms; do
            expect 0 perf analyze series.h5 --json --interval=$every
            python3 -c 'import json, sys
step = json.load(open("out.txt"))["step"]
assert abs(step["seconds"] / float(sys.argv[1]) - 1) < 0.04 and step["chance"] < 0.05, step' \
                "${name#*:}" || fail "the step of $name at $every"
        done
    done
else
    echo "recordings of real training are missing: not analysed"
fi

# Every command of the page.
run_page "$source/docs/perf.md"
python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' perf.svg || fail "no picture"

# The command's exit code, signals, and what cannot be started.
expect 7 perf record -q --no-gpu -o x.h5 -- sh -c 'exit 7'
expect 127 perf record -q -o none.h5 -- no-such-command
test ! -e none.h5 || fail "a file for a command that did not run"
expect 4 perf record -q --interface=nosuch0 -o never.h5 -- true
expect 5 perf record -q --no-gpu -o missing/x.h5 -- true
expect 4 perf record -q -o never.h5 --interval=0.1ms -- true
expect 2 perf record -q --interval=0.01ms -- true
expect 2 perf record
expect 2 perf analyze
expect 2 perf
expect 4 perf analyze missing.h5
head -c "$(($(wc -c <job.h5) / 2))" job.h5 >half.h5 # a recording that is cut off
expect 4 perf analyze half.h5
says err.txt half.h5
expect 4 perf analyze job.h5 --interval=1h
python3 - "$dlsim" <<'END' || fail "signals"
import signal, subprocess, sys, time
def run(script, number):
    run = subprocess.Popen([sys.argv[1], "perf", "record", "--no-gpu", "-q", "--force", "-o", "cut.h5", "--",
                            "sh", "-c", script], stdout=subprocess.PIPE, text=True,
                           preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    assert run.stdout.readline() == "ready\n"
    time.sleep(0.3)
    run.send_signal(number)
    return run.wait(timeout=30)
# It is passed on, the command decides, and the file is written.
assert run('trap "exit 5" INT; echo ready; while :; do sleep 0.05; done', signal.SIGINT) == 5
assert run('echo ready; exec sleep 30', signal.SIGTERM) == 128 + signal.SIGTERM
END
expect 0 perf analyze cut.h5
says out.txt "exit code 143"
echo "$checks checks"
