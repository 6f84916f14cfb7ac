# SPDX-License-Identifier: GPL-3.0-or-later
# Runs in which placement matters: the commands of docs/failures.md, what the results then hold, what
# compare shows, and settings that do not fit each other.
. "$DLSIM_SOURCE/tests/support/cli.sh"
cp -r "$source/configs" "$source/traces" .

run_page "$source/docs/failures.md"

base="run -q --config=configs/quickstart.cfg --trace=traces/samples/quick_60.csv"
world="--set perf.model=operator --set trace.assign=tiresias --predictor=noisy --set run.audit=true"

# A file of failures; the same under two placements.
printf 'time_s,node,event,part\n10,0,fail\n40,0,repair\n50,1,link,0.5\n' >down.csv
for placement in consolidated random; do
    # shellcheck disable=SC2086
    expect 0 $base $world --placement=$placement --scheduler=srtf --set failures.trace=down.csv \
        --set checkpoint.period=20s --set checkpoint.cost=1s -o $placement.h5 --json
    python3 - <<'PY' || fail "the summary of a run in a world"
import json
s = json.load(open("out.txt"))
w = s["world"]
assert w["node_failures"] == 1 and w["lost_gpu_s"] >= 0, w
assert w["starts"] >= 60 and w["predicted_starts"] > 0, w
assert 0 < w["prediction_error"] < 1 and w["best_slowdown_mean"] >= w["placement_slowdown_mean"] > 0, w
assert w["batches"] > 0 and w["questions"] > 0, w
PY
done
expect 0 compare consolidated.h5 random.h5
says out.txt "pred error"
says out.txt "run / best"
expect 0 inspect random.h5
says out.txt "against best placement"
# shellcheck disable=SC2086
expect 0 $base --scheduler=srtf -o plain.h5
expect 0 compare plain.h5
! grep -q "pred error" out.txt || fail "a figure of no run"

# The same run twice is the same; recorded predictions replay to the same.
# shellcheck disable=SC2086
expect 0 $base $world --scheduler=easy --set scheduler.estimates=predictor --predictions=record:said.txt --json
grep -o '"digest": "[^"]*"' out.txt >first.txt
# shellcheck disable=SC2086
expect 0 $base $world --scheduler=easy --set scheduler.estimates=predictor --predictions=replay:said.txt --json
grep -o '"digest": "[^"]*"' out.txt | cmp - first.txt || fail "replayed predictions give another run"

# Where run times are those of the trace, a predictor is right, and what it says is as good as knowing.
many="run -q --config=configs/quickstart.cfg --trace=traces/samples/philly_like_5000.csv --json"
for scheduler in srtf srsf easy; do
    # shellcheck disable=SC2086
    expect 0 $many --scheduler=$scheduler
    grep -o '"digest": "[^"]*"' out.txt >first.txt
    # shellcheck disable=SC2086
    expect 0 $many --scheduler=$scheduler --predictor=noisy --set scheduler.estimates=predictor
    grep -o '"digest": "[^"]*"' out.txt | cmp - first.txt || fail "$scheduler: a right prediction gives another run"
done
# In a world it may be wrong, and then the order is another.
for sigma in 0 1; do
    # shellcheck disable=SC2086
    expect 0 $many --scheduler=srtf --set perf.model=operator --set trace.assign=tiresias --predictor=noisy \
        --set scheduler.estimates=predictor --set predictor.sigma=$sigma
    grep -o '"digest": "[^"]*"' out.txt >sigma$sigma.txt
done
! cmp -s sigma0.txt sigma1.txt || fail "srtf does not hear the predictor"

# What does not fit.
refuse()
{
    text=$1
    shift
    # shellcheck disable=SC2086
    expect 3 $base "$@"
    says err.txt "$text"
}
refuse "needs 'perf.table'" --set perf.model=table
refuse "needs 'predictor.source'" --set scheduler.estimates=predictor
refuse "set 'predictor.source'" --placement=driple
refuse "did you mean 'oracle'" --predictor=oracel
refuse "expected record:FILE or replay:FILE" --predictor=oracle --predictions=keep:x
refuse "cannot bear failures" --set failures.node_mtbf=1d --scheduler=multi-dlas-gpu
# shellcheck disable=SC2086
expect 4 $base --set failures.trace=nowhere.csv
says err.txt "nowhere.csv"
printf 'time_s,node,event\n10,99,fail\n' >down.csv
# shellcheck disable=SC2086
expect 4 $base --set failures.trace=down.csv
says err.txt "down.csv:2"
says err.txt "the cluster has no such node"
echo "$checks checks"
