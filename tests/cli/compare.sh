#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim compare and dlsim inspect on files that dlsim itself writes.
set -u
dlsim=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}
# expect CODE COMMAND...: run it, output in out and err, check the exit code
expect() {
    local code=$1 got
    shift
    "$@" >out 2>err
    got=$?
    [ $got -eq "$code" ] || fail "exit code $got, not $code: $*: $(cat err)"
}
has() { # has FILE TEXT
    grep -qF -- "$2" "$1" || fail "no '$2' in $1: $(head -c 600 "$1")"
}

cat >trace.csv <<'END'
job_id,submit_time,num_gpu,duration
a,0,1,100
b,0,2,40
c,10,1,60
never,20,64,10
END
sed 's/,60$/,61/' trace.csv >other.csv
cat >two.cfg <<'END'
schema_version = 1;
cluster = { nodes = ( { name = "n"; count = 1; gpus = 2; gpu_type = "P100"; } ); };
END
config=two.cfg
expect 0 "$dlsim" --config=$config --trace=trace.csv --scheduler=fifo --quiet -o fifo.h5
expect 0 "$dlsim" --config=$config --trace=trace.csv --scheduler=srtf --quiet -o srtf.h5
expect 0 "$dlsim" --config=$config --trace=other.csv --scheduler=fifo --quiet -o other.h5
[ $failures -eq 0 ] || exit 1

expect 0 "$dlsim" compare fifo.h5 srtf.h5
has out "fifo/"
has out "srtf/"
has out "JCT p99"
has out "2 GPUs"
[ -s err ] && fail "compare talks: $(cat err)"
expect 0 "$dlsim" compare fifo.h5 fifo.h5
has out "1.000x"
expect 0 "$dlsim" compare fifo.h5 other.h5
has err "fifo.h5 and other.h5 replay different traces"
# Each warning once, and none hides another.
expect 0 "$dlsim" --config=$config --trace=trace.csv --scheduler=srtf --until=30 --quiet -o early.h5
expect 0 "$dlsim" compare fifo.h5 other.h5 other.h5 early.h5
has err "early.h5 was stopped early"
[ "$(grep -c "different traces" err)" -eq 1 ] || fail "not one warning of traces: $(cat err)"
expect 0 "$dlsim" compare fifo.h5 early.h5 early.h5 early.h5
has err "early.h5 and 2 more were stopped early"
[ "$(wc -l <err)" -eq 1 ] || fail "not one warning of runs that were stopped: $(cat err)"
# So does one of fewer jobs, of another window, of another cluster.
expect 0 "$dlsim" --config=$config --trace=trace.csv --set trace.max_jobs=2 --quiet -o fewer.h5
expect 0 "$dlsim" --config=$config --trace=trace.csv --set results.warmup=5 --quiet -o late.h5
expect 0 "$dlsim" --config=$config --trace=trace.csv --set 'cluster.nodes[0].gpus=3' --quiet -o three.h5
expect 0 "$dlsim" compare fifo.h5 fewer.h5 late.h5 three.h5 three.h5
has err "fifo.h5 and fewer.h5 replay 4 and 2 jobs of one trace"
has err "fifo.h5 and late.h5 count other jobs (results.warmup, results.cooldown)"
has err "fifo.h5 and three.h5 have clusters of 2 and 3 GPUs"
[ "$(wc -l <err)" -eq 3 ] || fail "not three warnings: $(cat err)"
expect 0 "$dlsim" compare --json fifo.h5 srtf.h5
python=/usr/bin/python3
if [ -x $python ]; then
    $python - out <<'END' || fail "the JSON of compare is wrong"
import json, sys
runs = json.load(open(sys.argv[1]))["runs"]
assert [r["ratio"]["jct_mean"] == 1 for r in runs] == [True, False]
for r in runs:
    parts = {p["name"]: p for p in r["summary"]["parts"]}
    assert parts["all"]["completed"] == 3 and parts["all"]["infeasible"] == 1
first, second = (r["summary"]["parts"][0]["jct_mean_s"] for r in runs)
assert abs(second / first - runs[1]["ratio"]["jct_mean"]) < 1e-9
END
fi
expect 2 "$dlsim" compare
has err "expected a results file"
expect 2 "$dlsim" compare --jsn fifo.h5
has err "--json"
expect 4 "$dlsim" compare fifo.h5 missing.h5
has err "missing.h5"
expect 4 "$dlsim" compare trace.csv
has err "not an HDF5 file"
head -c 20000 fifo.h5 >cut.h5
expect 4 "$dlsim" compare cut.h5
expect 4 "$dlsim" compare --run=none fifo.h5
has err "no run 'none'"
expect 0 "$dlsim" compare --help
has out "Usage: dlsim compare"

expect 0 "$dlsim" inspect fifo.h5
has out "trace_sha256"
has out "4: 3 completed, 1 infeasible, 0 unfinished"
expect 0 "$dlsim" inspect --config fifo.h5
has out "scheduler"
expect 0 "$dlsim" inspect --jobs fifo.h5
has out "infeasible"
expect 0 "$dlsim" inspect --jobs=2 fifo.h5
[ "$(wc -l <out)" -eq 3 ] || fail "--jobs=2 printed $(wc -l <out) lines"
expect 0 "$dlsim" inspect --job b fifo.h5
has out "node 0, GPUs 0 1, rate 1"
expect 4 "$dlsim" inspect --job=zz fifo.h5
has err "no job 'zz'"
expect 2 "$dlsim" inspect --jobs=many fifo.h5
expect 2 "$dlsim" inspect
expect 0 "$dlsim" inspect --help
for what in "" --jobs=0 --job=b; do
    expect 0 "$dlsim" inspect $what --json fifo.h5
    [ ! -x $python ] || $python -m json.tool out >/dev/null || fail "inspect $what --json"
done
if [ -w /dev/full ]; then
    "$dlsim" compare fifo.h5 >/dev/full 2>err
    [ $? -eq 5 ] || fail "a full standard output is not exit code 5"
fi
[ $failures -eq 0 ] && echo "compare and inspect: all good"
exit $((failures > 0))
