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

# Time that was not lost is time at the speed of the GPUs: 100 s lost, 100 s down, 500 s for the whole work, twice as fast as
# at the reference. What a preemption loses is told, too, where nothing fails.
printf 'job_id,num_gpu,submit_time,duration\n0,2,0,1000\n' >one.csv
printf 'time_s,node,event\n100,0,fail\n200,0,repair\n' >once.csv
expect 0 run -q --config=configs/quickstart.cfg --trace=one.csv --set 'cluster.nodes[0].count=1' --set perf.model=speeds \
    --set perf.speeds=V100=2 --set failures.trace=once.csv --set scheduler.restore_cost=0 --json
python3 -c 'import json; w = json.load(open("out.txt"))["world"]
assert w["lost_gpu_s"] == 400 and abs(w["effective_training_ratio"] - 500 / 700) < 1e-9, w' || fail "effective training time at another speed"
# A predicted time that is left grows by the time that was lost, not by its work at the reference: after 150 s with a checkpoint
# at 100 s, 413 s are left to the first job, and one of 497 s does not take its place.
printf 'job_id,num_gpu,submit_time,duration,model_name,batch_size\n0,1,0,4000,resnet50,32\n1,1,170,3800,resnet50,32\n' >two.csv
printf 'time_s,node,event\n150,0,fail\n160,0,repair\n' >once.csv
expect 0 run -q --config=configs/quickstart.cfg --trace=two.csv --set 'cluster.nodes[0].count=1' --set 'cluster.nodes[0].gpus=1' \
    --set perf.model=operator --set perf.reference_gpu=K80 --set perf.residual_sigma=0 --set failures.trace=once.csv \
    --set scheduler.restore_cost=0 --set checkpoint.period=100s --scheduler=srtf --predictor=oracle --set scheduler.estimates=predictor --json
python3 -c 'import json; p = json.load(open("out.txt"))["parts"][0]
assert p["preemptions"] == 1, p' || fail "the predicted time that is left after a failure at another speed"
printf 'job_id,num_gpu,submit_time,duration\n0,8,0,1000\n1,8,100,10\n' >two.csv
expect 0 run --config=configs/quickstart.cfg --trace=two.csv --set 'cluster.nodes[0].count=1' --scheduler=srtf \
    --set checkpoint.lost_on_preemption=true
says out.txt "0.2222 GPU-hours of work lost"

# The same run twice is the same; recorded predictions replay to the same.
# shellcheck disable=SC2086
expect 0 $base $world --scheduler=easy --set scheduler.estimates=predictor --predictions=record:said.txt --json
grep -o '"digest": "[^"]*"' out.txt >first.txt
# shellcheck disable=SC2086
expect 0 $base $world --scheduler=easy --set scheduler.estimates=predictor --predictions=replay:said.txt --json
grep -o '"digest": "[^"]*"' out.txt | cmp - first.txt || fail "replayed predictions give another run"
# Predictions are written over recorded ones, and over nothing else.
for how in "--predictions=record:precious.csv" "--set predictor.cache=$PWD/precious.csv --predictor=driple"; do
    cp "$sample" precious.csv
    # shellcheck disable=SC2086
    "$dlsim" $base $world $how >out.txt 2>err.txt || true
    says err.txt "precious.csv: is there already, and is no file of predictions"
    cmp -s "$sample" precious.csv || fail "$how: written over"
done

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

# What has ended is learned from: known from the start, it gives another order; the past is an input of the run.
for past in "" traces/samples/philly_like_5000.csv; do
    # shellcheck disable=SC2086
    expect 0 $many --scheduler=qssf --set scheduler.estimates=history --set scheduler.history=$past -o learned.h5 --force
    grep -o '"digest": "[^"]*"' out.txt >learned"${past:+past}".txt
done
! cmp -s learned.txt learnedpast.txt || fail "qssf does not learn from scheduler.history"
expect 0 inspect learned.h5
says out.txt "prediction error"

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
refuse "is for scheduler.estimates = \"history\"" --set scheduler.history=traces/samples/quick_60.csv
# shellcheck disable=SC2086
expect 4 $base --set scheduler.estimates=history --set scheduler.history=nowhere.csv
says err.txt "nowhere.csv"
printf 'job_id,num_gpu,submit_time,duration\n0,one,0,5\n' >past.csv
# shellcheck disable=SC2086
expect 4 $base --set scheduler.estimates=history --set scheduler.history=past.csv
says err.txt "past.csv:2"
refuse "did you mean 'oracle'" --predictor=oracel
refuse "expected record:FILE or replay:FILE" --predictor=oracle --predictions=keep:x
# Without a predictor nothing is recorded or replayed, which is said.
for how in "record:none.txt written to" "replay:nowhere.txt taken from"; do
    # shellcheck disable=SC2086
    expect 0 $base --predictions="${how%% *}" -q
    says err.txt "warning: predictor.predictions: nothing is ${how#* }"
    says err.txt "as there is no predictor (predictor.source)"
done
test ! -e none.txt || fail "predictions without a predictor"
refuse "cannot bear failures" --set failures.node_mtbf=1d --scheduler=multi-dlas-gpu
# shellcheck disable=SC2086
expect 4 $base --set failures.trace=nowhere.csv
says err.txt "nowhere.csv"
printf 'time_s,node,event\n10,99,fail\n' >down.csv
# shellcheck disable=SC2086
expect 4 $base --set failures.trace=down.csv
says err.txt "down.csv:2"
says err.txt "the cluster has no such node"

# Presets: published mean times to failure (docs/failures.md), of one job on a cluster with room for repairs.
mttf() {
    local gpus=$1 hours=$2 preset=$3 seeds=$4
    shift 4
    printf 'job_id,num_gpu,submit_time,duration\n0,%d,0,%d\n' "$gpus" $((hours * 3600)) >job.csv
    cat >job.cfg <<END
schema_version = 1;
cluster: { nodes = ({ count = $((gpus / 8 + gpus / 80 + 20)); gpus = 8; gpu_type = "A100"; }); };
placement: { name = "first-fit"; };
scheduler: { restore_cost = "0 s"; };
checkpoint: { period = "60 s"; };
failures: { preset = "$preset"; };
END
    rm -f mttf.txt
    for seed in $(seq "$seeds"); do
        expect 0 run -q --config=job.cfg --trace=job.csv --json --seed="$seed" "$@"
        python3 -c 'import json; s = json.load(open("out.txt")); p = s["parts"][0]
print(p["held_gpu_s"] / 3600 / float('"$gpus"'), p["preemptions"], s["world"]["effective_training_ratio"])' >>mttf.txt
    done
    awk '{ h += $1; n += $2 } END { print n ? h / n : "never" }' mttf.txt
}
within() {
    awk -v x="$1" -v want="$2" -v part="$3" 'BEGIN { d = x / want - 1; exit !(d < part && d > -part) }' ||
        fail "a mean time to failure of $1, not $2 within $3"
    checks=$((checks + 1))
}
within "$(mttf 1024 8000 rsc-1 4)" 7.9 0.10
within "$(mttf 16384 1000 rsc-1 2)" 1.8 0.10
within "$(mttf 8 800000 rsc-1 2)" $((477 * 24 / 10)) 0.15
within "$(mttf 16384 1000 llama-3 2)" 3.09 0.10
# Independent nodes alone; a key that is given counts before the preset.
within "$(mttf 1024 8000 rsc-1 2 --set failures.job_mtbf=never --set failures.node_mtbf=153.846d)" 28.8 0.10
# Lemons: 5 % of the nodes ten times as often are 1.45 times the failures; replaced at once, none.
within "$(mttf 1024 8000 none 2 --set failures.node_mtbf=60d --set failures.lemons=1 --set failures.lemon_factor=2)" 5.625 0.10
within "$(mttf 1024 8000 none 2 --set failures.node_mtbf=60d --set failures.lemons=1 --set failures.lemon_factor=2 --set failures.replace_after=1)" 11.25 0.12
# Racks: 12.8 racks of ten nodes, each every 30 days, so at least 56 h; the first fit takes 13 of them.
within "$(mttf 1024 20000 none 2 --set 'cluster.nodes[0].rack_size=10' --set failures.rack_mtbf=30d)" 55.4 0.15
# Spares: as many nodes as the job needs and no more, with slow repairs, or with others standing by.
mttf 1024 2000 rsc-1 1 --set 'cluster.nodes[0].count=128' --set failures.repair=2d >/dev/null
bare=$(cut -d' ' -f3 mttf.txt)
mttf 1024 2000 rsc-1 1 --set 'cluster.nodes[0].count=138' --set failures.repair=2d --set failures.spares=10 >/dev/null
awk -v bare="$bare" '{ exit !(bare < 0.5 && $3 > 0.95) }' mttf.txt || fail "spares: $bare, then $(cat mttf.txt)"
# All failures seen before: nodes drain, nobody loses work, and the job of 1,024 GPUs is never stopped.
mttf 1024 8000 none 1 --set failures.node_mtbf=60d --set failures.drains=1 >/dev/null
awk '{ exit !($2 == 0 && $3 == 1) }' mttf.txt || fail "drains: $(cat mttf.txt)"
python3 -c 'import json; w = json.load(open("out.txt"))["world"]; assert w["node_drains"] > 100 and w["node_failures"] == 0, w' ||
    fail "no node has drained"
printf 'job_id,num_gpu,submit_time,duration\n0,0.5,0,10\n' >parts.csv
refuse "cannot be drained" --set failures.drains=1 --set failures.node_mtbf=1d --set cluster.gpu_parts=any --trace=parts.csv
# All at once, audited, under schedulers of each kind.
for scheduler in fifo srtf easy gandiva; do
    expect 0 run -q --config=configs/quickstart.cfg --trace=traces/samples/quick_60.csv --scheduler=$scheduler --set run.audit=true \
        --set failures.node_mtbf=1d --set failures.gpu_mtbf=20d --set failures.rack_mtbf=4d --set failures.job_mtbf=2h --set failures.job_nodes=2 \
        --set failures.drains=0.3 --set failures.lemons=0.2 --set failures.replace_after=2 --set failures.spares=5 --set checkpoint.period=10min
done
refuse "leaves no node" --set failures.spares=32
refuse "failures.preset" --set failures.preset=rsc-3
echo "$checks checks"
