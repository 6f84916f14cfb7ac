# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim export: a run as a trace that viewers open.
. "$DLSIM_SOURCE/tests/support/cli.sh"
config=$source/configs/quickstart.cfg
few="--set cluster.nodes[0].count=2"
expect 0 --config="$config" --trace="$sample" $few --scheduler=srtf -q -o run.h5
expect 0 export --perfetto run.h5 -o trace.json
says err.txt "slices"
expect 0 export --perfetto run.h5
cmp out.txt trace.json || fail "standard output differs from the file"
expect 0 export --perfetto run.h5 --from=1h --until=2h -o hour.json -q
cat >check.py <<'END'
import json, sys
import h5py
def load(name):
    top = json.load(open(name))
    assert top["displayTimeUnit"] == "ms"
    events = top["traceEvents"]
    return ([e for e in events if e["ph"] == "X"], [e for e in events if e["ph"] == "C"],
            [e for e in events if e["ph"] == "M"], events)
slices, counters, names, events = load("trace.json")
assert len(slices) + len(counters) + len(names) == len(events)
run = h5py.File("run.h5")["runs/0"]
alloc = {k: d[:] for k, d in run["allocations"].items()}
ids = [i.decode() for i in run["jobs/id"][:]]
# Every GPU of every allocation is one slice, under its node, with its job's name.
want = sorted((int(n) + 1, ids[j], int(s), int(e - s)) for j, n, s, e, m in zip(
    alloc["job"], alloc["node"], alloc["start_us"], alloc["end_us"], alloc["gpu_mask"])
    for g in range(64) if int(m) >> g & 1)
assert want == sorted((s["pid"], s["name"], s["ts"], s["dur"]) for s in slices)
assert len(want) > 60
# Nothing overlaps on a thread, every thread has a name, and so has every node.
threads = {}
for s in slices:
    threads.setdefault((s["pid"], s["tid"]), []).append((s["ts"], s["ts"] + s["dur"]))
for spans in threads.values():
    spans.sort()
    assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:]))
named = {(n["pid"], n["tid"]) for n in names if n["name"] == "thread_name"}
assert set(threads) == named, set(threads) ^ named
assert {n["args"]["name"] for n in names if n["name"] == "process_name"} == {"cluster", "node 0", "node 1"}
# The counters are the series.
series = run["series/cluster"]
busy = [(int(t), int(b)) for t, b in zip(series["t_us"][:], series["busy_gpus"][:])]
got = [(c["ts"], c["args"]["busy"]) for c in counters if c["name"] == "GPUs"]
assert got == busy and all(c["args"]["busy"] + c["args"]["free"] == 16 for c in counters if c["name"] == "GPUs")
assert sum(c["name"] == "jobs" for c in counters) == len(busy)
# A part of the time.
part, some, _, _ = load("hour.json")
h = 3600 * 10**6
assert 0 < len(part) < len(slices) and all(s["ts"] < 2 * h and s["ts"] + s["dur"] > h for s in part)
assert len(part) == sum(s["ts"] < 2 * h and s["ts"] + s["dur"] > h for s in slices)
held = [(max(t, h), b) for (t, b), (end, _) in zip(busy, busy[1:] + [(1 << 62, 0)]) if end > h and t < 2 * h]
assert held[0][0] == h and held == [(c["ts"], c["args"]["busy"]) for c in some if c["name"] == "GPUs"]
END
if /usr/bin/python3 -c 'import h5py' 2>/dev/null; then
    /usr/bin/python3 check.py || fail "the trace"
    checks=$((checks + 1))
else
    python3 -m json.tool trace.json >/dev/null || fail "no JSON"
fi
expect 5 export --perfetto run.h5 -o trace.json
says err.txt "is there already"
expect 0 export --perfetto run.h5 -o trace.json --force -q
empty err.txt
expect 2 export run.h5
says err.txt "--perfetto"
expect 2 export --perfetto
expect 2 export --perfetto run.h5 --from=soon
expect 4 export --perfetto missing.h5
expect 4 export --perfetto "$sample"
expect 4 export --perfetto run.h5 --run=7
expect 5 export --perfetto run.h5 -o nowhere/trace.json
# One run of several.
expect 0 study --config="$config" --trace="$sample" $few --schedulers=fifo,srtf -q -o two
for words in "export --csv" "export --perfetto" "inspect --jobs"; do
    expect 2 $words two/quickstart.h5
    says err.txt "holds several runs: --run says which"
done
expect 0 export --csv two/quickstart.h5 --run=1
expect 0 --config="$config" --trace="$sample" $few -q -o bare.h5 --set results.series=false \
    --set results.allocations=false
expect 4 export --perfetto bare.h5 -o bare.json
says err.txt "neither allocations nor a series"
test ! -e bare.json && test ! -e bare.json.part || fail "a file was left"

# Tables: every column as it is in the file, under its name.
for table in jobs allocations series; do
    expect 0 export --csv --table=$table run.h5 -o $table.csv --force
    says err.txt " rows"
done
expect 0 export --csv run.h5
cmp out.txt jobs.csv || fail "jobs are not the table if none is named"
expect 0 export --batsim run.h5 -o batsim.csv -q
expect 0 export --swf run.h5 -o jobs.swf -q
cat >check_tables.py <<'END'
import csv, h5py
run = h5py.File("run.h5")["runs/0"]
def rows(name):
    return list(csv.DictReader(open(name)))
for table, group in (("jobs", "jobs"), ("allocations", "allocations"), ("series", "series/cluster")):
    got = rows(table + ".csv")
    assert set(got[0]) == set(run[group]), table
    for name, column in run[group].items():
        values = column[:]
        codes = h5py.check_enum_dtype(column.dtype) and {v: k for k, v in h5py.check_enum_dtype(column.dtype).items()}
        names = run["dicts"][name][:] if table == "jobs" and name in run["dicts"] else None
        for row, value in zip(got, values, strict=True):
            if codes:
                want = codes[value]
            elif names is not None:
                want = names[value].decode() if value >= 0 else ""
            elif values.dtype.kind == "S":
                want = value.decode()
            elif values.dtype.kind == "f":
                assert abs(float(row[name]) - value) <= 1e-6 * abs(value)
                continue
            else:
                want = str(value)
            assert row[name] == want, (table, name, row[name], want)
jobs = {row["id"]: row for row in rows("jobs.csv")}
ended = rows("batsim.csv")
assert len(ended) == sum(row["state"] == "finished" for row in jobs.values()) > 50
for row in ended:
    job = jobs[row["job_id"]]
    us = lambda name: round(float(row[name]) * 1e6)
    assert us("submission_time") == int(job["submit_us"]) and us("starting_time") == int(job["start_us"])
    assert us("finish_time") == int(job["end_us"]) and int(row["requested_number_of_resources"]) == int(job["gpus"])
    assert us("waiting_time") + us("execution_time") == us("turnaround_time")
swf = [line.split() for line in open("jobs.swf") if not line.startswith(";")]
assert all(len(line) == 18 for line in swf) and len(swf) == len(jobs)
END
if /usr/bin/python3 -c 'import h5py' 2>/dev/null; then
    /usr/bin/python3 check_tables.py || fail "tables"
    checks=$((checks + 1))
fi
# Virtual clusters are queues; what ran or waited when the run stopped is neither done nor cancelled, what cannot run is.
printf 'num_gpu,submit_time,duration,vc\n1,0,9,a\n4,1,90000,b\n9999,2,9,\n' >odd.csv
expect 0 --config="$config" --trace=odd.csv -q -o odd.h5 --until=1d
expect 0 export --swf odd.h5 -q
grep -v '^;' out.txt | cut -d' ' -f5,11,13,15 >swf.txt
same "an export as SWF" swf.txt <<'END'
1 1 -1 1
4 -1 -1 2
-1 5 -1 -1
END
# What is written in the Standard Workload Format is a trace again: as many jobs and GPUs.
expect 0 --config="$config" --trace=jobs.swf $few --set trace.swf_processor_is_gpu=true -q --json
says out.txt '"jobs": 60,'
expect 2 export --csv run.h5 --table=job
says err.txt "did you mean 'jobs'"
for form in csv arrow; do
    expect 4 export --$form run.h5 --table=starts -o starts.$form
    says err.txt "the run has no such table"
    test ! -e starts.$form || fail "a table that is not there was written"
done
expect 2 export --csv --swf run.h5
expect 4 export --csv missing.h5
expect 4 export --csv "$sample"
expect 5 export --csv run.h5 -o nowhere/jobs.csv
expect 0 export --help
echo "$checks checks"
