# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim sweep: points, runs, failures, going on after a stop, one file of it all; bad input.
. "$DLSIM_SOURCE/tests/support/cli.sh"
config=$source/configs/quickstart.cfg
python=/usr/bin/python3

# sweep.cfg AXES...: a sweep over the quickstart configuration and the small sample.
sweep() {
    cat >sweep.cfg <<END
sweep: {
    base = "$config";
    set = ("trace.path=$sample", "cluster.nodes[0].count=2");
    axes = ($1);
    ${2-}
};
END
}

# ---- points --------------------------------------------------------------------------------------
sweep '{ key = "scheduler.name"; values = ["fifo", "srtf"]; },
       { key = "scheduler.restore_cost"; from = "0 s"; to = "120 s"; steps = 3; }' 'replicas = 2;'
expect 0 sweep plan sweep.cfg --count
test "$(cat out.txt)" = 12 || fail "12 points: $(cat out.txt)"
expect 0 sweep plan sweep.cfg -q
head -1 out.txt | grep -qx 'point,design,replica,seed,scheduler.name,scheduler.restore_cost,id' ||
    fail "the head of the plan: $(head -1 out.txt)"
cut -d, -f1-6 out.txt >plan.txt
for line in '0,0,0,1,fifo,0 s' '1,0,1,2,fifo,0 s' '3,1,1,2,fifo,60 s' '11,5,1,2,srtf,120 s'; do
    grep -qx "$line" plan.txt || fail "no point '$line': $(cat plan.txt)"
done
# The same points wherever it is started from, and a part of them keeps its numbers.
cp out.txt whole.txt
(mkdir sub && cd sub && "$dlsim" sweep plan ../sweep.cfg -q) >out.txt
cmp out.txt whole.txt || fail "the plan depends on the current folder"
expect 0 sweep plan sweep.cfg -q --points=3-4
sed -n '5,6p' whole.txt >want.txt
tail -2 out.txt | cmp - want.txt || fail "points 3-4: $(cat out.txt)"

# ---- runs ----------------------------------------------------------------------------------------
expect 1 sweep status sweep.cfg
says out.txt "12 points, 0 finished, 0 running, 0 failed, 12 missing"
expect 0 sweep run sweep.cfg -q -j 2
empty err.txt
expect 0 sweep status sweep.cfg --json
test "$(tr -d ' \n' <out.txt)" = '{"points":12,"finished":12,"running":0,"failed":0,"missing":0}' ||
    fail "status: $(cat out.txt)"
find sweep.sweep -type f -printf '%p %i %T@\n' | sort >before.txt
expect 0 sweep run sweep.cfg
find sweep.sweep -type f -printf '%p %i %T@\n' | sort | cmp - before.txt ||
    fail "finished points were run again"
test -z "$(find sweep.sweep -name '.*.h5.*' -o -name '*.lock')" || fail "something was left"
# One value more: only its points run; the others are found again although their numbers moved.
sweep '{ key = "scheduler.name"; values = ["lpjf", "fifo", "srtf"]; },
       { key = "scheduler.restore_cost"; from = "0 s"; to = "120 s"; steps = 3; }' 'replicas = 2;'
expect 1 sweep status sweep.cfg
says out.txt "18 points, 12 finished, 0 running, 0 failed, 6 missing"

# Seeds with traces of their own are compared by pairs.
for seed in 1 2 3; do
    expect 0 trace generate --profile=philly --gpus=8 --jobs=20 --max-duration=1h --seed=$seed -q -o "own-$seed.csv"
done
sweep '{ key = "scheduler.name"; values = ["fifo", "srtf"]; }' 'replicas = 2;'
expect 0 study sweep.cfg --set "trace.path=$PWD/own-{seed}.csv" -o own
says out.txt "of its pairs"
if grep "different traces" err.txt; then fail "seeds with traces of their own"; fi
expect 0 sweep plan sweep.cfg --set "trace.path=$PWD/own-{seed}.csv" -q
test "$(tail -n +2 out.txt | cut -d, -f6 | sort -u | wc -l)" = 4 || fail "two seeds, one trace: $(cat out.txt)"

# So are those of two sweeps that share a seed only, whichever its number is.
for side in "fifo 1, 2" "srtf 2, 3"; do
    sweep "{ key = \"scheduler.name\"; values = [\"${side%% *}\"]; }" "seeds = [${side#* }];"
    expect 0 sweep run sweep.cfg -q --set "trace.path=$PWD/own-{seed}.csv" -o "${side%% *}"
    expect 0 sweep merge sweep.cfg -q --set "trace.path=$PWD/own-{seed}.csv" -o "${side%% *}" --file="${side%% *}.h5"
done
expect 0 compare fifo.h5 srtf.h5 --json
if grep "different traces" err.txt; then fail "sweeps with traces of their own"; fi
if $python -c 'import h5py' 2>/dev/null; then
    $python -c '
import h5py, json
jct = [dict(zip(f["points/seed"][:], f["points/jct_mean_s"][:])) for f in map(h5py.File, ("fifo.h5", "srtf.h5"))]
said = json.load(open("out.txt"))["designs"][1]["ratios"][0]["figures"]["jct_mean"]
assert abs(said["mean"] - jct[1][2] / jct[0][2]) < 1e-9 and said["half_width"] is None, (jct, said)' || fail "runs of other seeds are paired"
fi

# Workers, one or several, and one process a point give the same results.
sweep '{ keys = ["scheduler.name", "placement.name"];
         values = (("dlas-gpu", "random"), ("srtf", "spread"), ("gittins", "consolidated")); }' \
    'replicas = 2;'
digests() { # digests FOLDER
    "$dlsim" sweep merge sweep.cfg -o "$1" --file="$1.h5" -q || fail "merge of $1"
    "$dlsim" inspect "$1.h5" --json | grep '"digest"' | sort
}
expect 0 sweep run sweep.cfg -q -j 1 -o one
expect 0 sweep run sweep.cfg -q -j 4 -o four
for i in 0 1 2 3 4 5; do
    expect 0 sweep run sweep.cfg -q -o each --points=$i
done
digests one >one.txt
test "$(sort -u one.txt | wc -l)" -ge 3 || fail "the points are all alike: $(cat one.txt)"
digests four | cmp - one.txt || fail "-j 4 gives other results than -j 1"
digests each | cmp - one.txt || fail "one process a point gives other results than -j 1"
# A single run of the same configuration is the same run.
expect 0 --config="$config" --trace="$sample" --scheduler=srtf --placement=spread --seed=2 \
    --set 'cluster.nodes[0].count=2' -q -o single.h5
"$dlsim" inspect single.h5 --json | grep '"digest"' | sed 's/[ ,]//g' >single.txt
sed 's/[ ,]//g' one.txt | grep -qFx "$(cat single.txt)" || fail "a point differs from its single run"

# ---- one file ------------------------------------------------------------------------------------
expect 0 sweep merge sweep.cfg -o one --file=linked.h5 --link
expect 0 inspect linked.h5 --run=3
expect 5 sweep merge sweep.cfg -o one --file=linked.h5
says err.txt "is there already"
expect 0 compare linked.h5
cp out.txt linked.txt
expect 0 compare one.h5
cmp out.txt linked.txt || fail "links compare otherwise than copies"
says out.txt "dlas-gpu/random"
expect 0 compare one.h5 --baseline=srtf/spread --json
if $python -c 'import h5py, pandas' 2>/dev/null; then
    $python - one.h5 out.txt <<'END' || fail "the table of points"
import json, sys
import h5py, numpy as np, pandas as pd
f = h5py.File(sys.argv[1])
points = pd.DataFrame({k: d.asstr()[:] if d.dtype.kind == "S" else d[:] for k, d in f["points"].items()})
assert list(points.columns[:4]) == ["point", "run", "state", "failure"], list(points.columns)
assert list(points["scheduler.name"]) == ["dlas-gpu"] * 2 + ["srtf"] * 2 + ["gittins"] * 2
assert list(points.seed) == [1, 2] * 3 and list(points.design) == [0, 0, 1, 1, 2, 2]
assert (points.state == "finished").all() and (points.jobs == 60).all()
for run, mean in zip(points.run, points.jct_mean_s):
    parts = f["runs"][run]["summary/parts"][:]
    assert parts["jct_mean_s"][0] == mean
    jobs = f["runs"][run]["jobs"]
    jct = (jobs["end_us"][:] - jobs["submit_us"][:]) / 1e6
    assert abs(jct.mean() - mean) < 1e-6
# Means, intervals and paired ratios, once more.
designs = {d["label"]: d for d in json.load(open(sys.argv[2]))["designs"]}
t = 12.706204736432095  # Student, one degree of freedom, 97.5 %
for label, rows in points.groupby("label"):
    x = rows.jct_mean_s.to_numpy()
    got = designs[label]["figures"]["jct_mean"]
    assert abs(got["mean"] - x.mean()) < 1e-6 * x.mean()
    half = t * x.std(ddof=1) / np.sqrt(2)
    assert abs(got["half_width"] - half) < 1e-6 * x.mean(), (label, got, half)
    base = points[points.label == "srtf/spread"].jct_mean_s.to_numpy()
    r = designs[label]["ratios"][0]["figures"]["jct_mean"]
    assert abs(r["mean"] - (x / base).mean()) < 1e-9
    assert abs(r["half_width"] - t * (x / base).std(ddof=1) / np.sqrt(2)) < 1e-6
END
    checks=$((checks + 1))
fi

# ---- a study without a folder of its own -----------------------------------------------------------
# Its runs lie in TMPDIR while it lasts, however long that is, and nothing stays.
tmp=$work/a/folder/for/temporary/files/that/is/longer/than/thirty-two/bytes
mkdir -p "$tmp"
TMPDIR=$tmp expect 0 study --config="$config" --trace="$sample" --schedulers=fifo,srtf -q
test -z "$(ls "$tmp")" || fail "a study left $(ls "$tmp")"
chmod a-w "$tmp"
if test "$(id -u)" -ne 0; then
    TMPDIR=$tmp expect 5 study --config="$config" --trace="$sample" --schedulers=fifo,srtf -q
    says err.txt "$tmp"
fi
TMPDIR=$tmp/missing expect 5 study --config="$config" --trace="$sample" --schedulers=fifo,srtf -q
says err.txt "$tmp/missing"

# ---- traces ------------------------------------------------------------------------------------------
# More of them than are kept at a time; replicas of the command line.
for i in $(seq 20); do
    head -$((i + 3)) "$sample" >trace$i.csv
done
sweep "{ key = \"trace.path\"; values = [$(printf '"trace%d.csv", ' $(seq 19)) \"trace20.csv\"]; }"
sed -i '/set = /d' sweep.cfg
expect 0 sweep run sweep.cfg -q -o traces --replicas=2
expect 0 sweep merge sweep.cfg -q -o traces --replicas=2 --file=traces.h5
if $python -c 'import h5py' 2>/dev/null; then
    $python -c '
import h5py
f = h5py.File("traces.h5")
assert list(f["points/jobs"][:]) == [j for i in range(1, 21) for j in (i + 1, i + 1)]
assert len({r.attrs["trace_sha256"] for r in f["runs"].values()}) == 20
assert [r.attrs["seed"] for r in f["runs"].values()] == [1, 2] * 20' || fail "traces"
fi
cp trace3.csv trace4.csv
expect 3 sweep status sweep.cfg -o traces
says err.txt "have the same configuration"

# ---- points that fail ----------------------------------------------------------------------------
# One job of the second trace is of a model that the table does not know: found when the point runs.
printf 'job_id,num_gpu,submit_time,duration,model\n1,1,0,10,mine\n' >good.csv
printf 'not a table' >bad.map
sweep '{ key = "trace.assign"; values = ["", "bad.map"]; }'
expect 1 sweep run sweep.cfg -q -o broken --trace=good.csv
says err.txt "1 of 2 points failed"
says err.txt "point 1"
expect 1 sweep status sweep.cfg -o broken --trace=good.csv
says out.txt "2 points, 1 finished, 0 running, 1 failed, 0 missing"
expect 0 sweep merge sweep.cfg -o broken --trace=good.csv
says err.txt "(1 of 2 points)"
# Nor does it replace a point.
point=$(find broken/points -name '*.h5')
cp "$point" point.h5
expect 5 sweep merge sweep.cfg -q -o broken --trace=good.csv --file="$point" --force
says err.txt "$point: is also an input: it would be replaced"
cmp point.h5 "$point" || fail "a point was replaced"
# A trace that is called as the file of results would be.
mkdir called
cp good.csv called/sweep.h5
expect 1 sweep run sweep.cfg -q -o called --trace=called/sweep.h5
expect 5 sweep merge sweep.cfg -q -o called --trace=called/sweep.h5
says err.txt "called/sweep.h5: is also an input: it would be replaced"
cmp good.csv called/sweep.h5

echo "$checks checks"
