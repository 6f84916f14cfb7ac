# SPDX-License-Identifier: GPL-3.0-or-later
# The measured data set that is shipped: labels follow from the runs, the dataset from labels and networks, tables of
# docs/bench.md from both; an inspector can be trained on it.
. "$DLSIM_SOURCE/tests/support/cli.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
data=$source/predictor/measure/data bench=$source/predictor/measure/bench
test "$(du -sk "$data" | cut -f1)" -lt 3072 || fail "the data set has more than 3 MB"

python3 "$bench/labels.py" "$data/runs.jsonl.gz" >labels.csv
cmp labels.csv "$data/labels.csv" || fail "labels.csv is not what labels.py makes of the runs"
expect 0 dataset build -o set.h5 --labels="$data/labels.csv" --graphs="$data/networks" --settings=bench \
    --groups=24 --features=kernels --seed=0
expect 0 dataset show set.h5
grep -v '^dlsim' out.txt >ours.txt
expect 0 dataset show "$data/dataset.h5"
grep -v '^dlsim' out.txt | cmp - ours.txt || fail "dataset.h5 is not what labels and networks make"
says out.txt "p1w2-ps-200m"
checks=$((checks + 2))

# Tables of the page, line by line; under the sanitizers without the one whose commands follow below for one family.
on_path
rates="rates.py $data/rates.jsonl.gz $data/networks $PWD/rates"
test "${DLSIM_SANITIZE:-0}" = 0 || rates=
for table in "study.py data $data/runs.jsonl.gz" "study.py data $data/rates.jsonl.gz" ${rates:+"$rates"} \
    "profiler.py $data/profiled.jsonl.gz" "profiler.py $data/profiled_xeon2.jsonl.gz" "contend.py $data --report" \
    "study.py relative $data/labels.csv $data/networks $PWD/relative"; do
    # shellcheck disable=SC2086 # words
    (cd "$bench" && PYTHONDONTWRITEBYTECODE=1 DLSIM=dlsim python3 $table) >table.txt
    test "$(wc -l <table.txt)" -gt 3 || fail "$table says nothing"
    while read -r line; do
        test -z "$line" || grep -qxF -- "$line" "$source/docs/bench.md" || fail "docs/bench.md lacks: $line"
    done <table.txt
    checks=$((checks + 1))
done

# The operator model fitted to the jobs of all families but one, and none of two servers, asked about that one.
grep -v -e '^vgg-' -e ',p2w2-' "$data/labels.csv" >others.csv
expect 0 operators calibrate --jobs=others.csv --graphs="$data/networks" --gpu=EPYC-CORE -o fitted.cfg
expect 0 graph import "$data/networks/vgg-0.onnx" --batch=32 --training --optimiser=sgd -o vgg.h5
step() {
    expect 0 operators profile --graph=vgg.h5 --gpu=EPYC-CORE --constants=fitted.cfg --samples=100 "$@"
    sed -n 's/^step_s //p' out.txt
}
two="--gpus=2 --nodes=2 --network=eth200m"
# shellcheck disable=SC2086 # words
alone=$(step) ring=$(step $two --buckets --like=jobs-allreduce) served=$(step $two --servers=1 --apart --like=jobs-servers)
both=$(step $two --servers=2 --apart --like=jobs-servers)
# One job alone, in a ring and behind a server; another server changes it the way it did.
awk -F, -v w1="$alone" -v ring="$ring" -v served="$served" -v both="$both" '
    $1 == "vgg-0" && $3 == 32 { was[$4] = $5 }
    function off(says, setting) { return was[setting] > 0 && (says / was[setting] - 1) ^ 2 < 0.15 ^ 2 }
    END { exit !(off(w1, "w1") && off(ring, "w2-ar-200m") && off(served, "p1w2-ps-200m") &&
                (both < served) == (was["p2w2-ps-200m"] < was["p1w2-ps-200m"])) }' \
    "$data/labels.csv" || fail "vgg-0@32: $alone s alone, $ring s in a ring, $served s behind a server, $both s behind two"
expect 2 operators calibrate --jobs=others.csv -o no.cfg
says err.txt "goes with --graphs"
expect 4 operators calibrate --jobs=others.csv --graphs="$data/networks" --gpu=V100 -o no.cfg
says err.txt "runs on EPYC-CORE, not on V100"
grep -e '^network' -e ',w2-ar-1g,' others.csv >two.csv
expect 4 operators calibrate --jobs=two.csv --graphs="$data/networks" --gpu=EPYC-CORE -o no.cfg
says err.txt "no job of one worker"
test ! -e no.cfg || fail "constants of a refused calibration"
checks=$((checks + 4))

expect 0 train --dataset="$data/dataset.h5" --settings=all --together --epochs=2 -q --batch=8 \
    --arch="depth=fixed n_layers=2 set2set_steps=2 hidden=24 mlp_layers=2" -o w.h5
expect 0 evaluate --weights=w.h5 --dataset="$data/dataset.h5" --rows=rows.csv
test "$(head -1 rows.csv)" = "setting,model,family,batch,metric,label,predicted,nearest" || fail "$(head -1 rows.csv)"
# Every test graph in every setting, 12 metrics and the step; labels are those of the table.
python3 - "$data/labels.csv" <<'END' || fail "rows of labels"
import csv, sys
labels = {(r["setting"], r["network"], r["batch"]): r for r in csv.DictReader(open(sys.argv[1]))}
rows = list(csv.DictReader(open("rows.csv")))
jobs = {(r["setting"], r["model"], r["batch"]) for r in rows}
assert len(rows) == 13 * len(jobs) and len(jobs) == 7 * 32, (len(rows), len(jobs))
for r in rows:
    want = float(labels[(r["setting"], r["model"], r["batch"])][r["metric"]])
    assert abs(float(r["label"]) - want) <= 1e-5 * want, (r, want)
END
checks=$((checks + 1))
expect 5 evaluate --weights=w.h5 --dataset="$data/dataset.h5" --rows=missing/rows.csv
# Described as the shipped inspector describes graphs, which then can be tuned to it.
expect 0 dataset build -o shipped.h5 --labels="$data/labels.csv" --graphs="$data/networks" --settings=bench \
    --weights="$source/predictor/inspectors/dlsim.h5"
expect 0 train --dataset=shipped.h5 --setting=w2-ar-200m --base="$source/predictor/inspectors/dlsim.h5" --transfer --epochs=1 \
    -q -o tuned.h5
# Divided by networks: every family has networks in training, and no network has batches on both sides.
expect 0 dataset build -o networks.h5 --labels="$data/labels.csv" --graphs="$data/networks" --settings=bench --split=random \
    --weights="$source/predictor/inspectors/dlsim.h5" --seed=3
expect 0 evaluate --weights=tuned.h5 --dataset=networks.h5 --force --rows=rows.csv
python3 - <<'END' || fail "division by networks"
import csv
test = {(r["family"], r["model"], r["batch"]) for r in csv.DictReader(open("rows.csv"))}
networks = {m for _, m, _ in test}
assert len(test) == 2 * len(networks) and 14 <= len(networks) <= 15, test
assert len({f for f, _, _ in test}) == len(networks), networks  # one of a family at most
END
checks=$((checks + 1))
# A relative inspector is told the model's step and bytes: what it says of a job comes to a step, and to those bytes.
weights=$source/predictor/inspectors/relative.h5
expect 0 dataset build -o known.h5 --labels="$data/labels.csv" --graphs="$data/networks" --settings=bench --weights="$weights"
expect 0 evaluate --weights="$weights" --dataset=known.h5 --force --rows=rows.csv
python3 - "$data/labels.csv" <<'END' || fail "what is known of a job"
import csv, statistics, sys
labels = {(r["setting"], r["network"], r["batch"]): r for r in csv.DictReader(open(sys.argv[1]))}
jobs = {}
for r in csv.DictReader(open("rows.csv")):
    jobs.setdefault((r["setting"], r["model"], r["batch"]), {})[r["metric"]] = float(r["predicted"])
shares = []
for key, m in jobs.items():
    for name in "gpu_mem", "gpu", "net_rx", "net_tx":
        assert abs(m[name + "_idle"] + m[name + "_active"] - m["iteration_s"]) < 1e-5 * m["iteration_s"], (key, m)
    expected = float(labels[key]["sent_expected"])
    assert m["net_tx_active"] * m["net_tx_peak"] <= 1.01 * expected, (key, m, expected)
    shares += [m["net_tx_active"] * m["net_tx_peak"] / expected] if expected else []
    assert 0.3 < m["iteration_s"] / float(labels[key]["iteration_s"]) < 3, (key, m)
assert {s for s, _, _ in jobs} == {s for s, _, _ in labels} and statistics.median(shares) > 0.7, shares
END
checks=$((checks + 1))
expect 0 train --dataset=known.h5 --setting=w2-ar-200m --relative --epochs=1 --arch=hidden=24 -q -o own.h5
# The operator model with this machine's operations answers in the units of the labels; signs and errors by hand.
PYTHONPATH=$bench PYTHONDONTWRITEBYTECODE=1 DLSIM=dlsim python3 - "$data" <<'END' || fail "the operator model beside labels"
import sys
import study
rows = [r for r in study.read(sys.argv[1] + "/labels.csv") if r["network"] == "lenet-0" and r["setting"] in ("w1", "w2-ar-1g")]
for measured in False, True:
    found = study.operator_model(rows, sys.argv[1] + "/networks", ".", measured)
    assert len(found) == len(rows) == 4, found
    for (setting, _, _), m in found.items():
        assert 0.3 < m["gpu_peak"][1] <= 1 and 0 < m["gpu_active"][1] <= m["iteration_s"][1] * 1.01, m
        assert ("sent" in m) == (setting != "w1"), m
jobs = {("w1", "a", b): {"gpu_idle": (0, 9), "gpu_active": (b, 1.5 * b, b), "gpu_peak": (1, 0.9)} for b in (1, 2)}
assert all(abs(e - 0.3) < 1e-9 for e in study.resource_errors(jobs, 1, "gpu")), jobs
END
checks=$((checks + 1))
expect 2 dataset facts --labels="$data/labels.csv"
for recording in "$data"/recordings/*.h5; do
    expect 0 perf analyze "$recording"
    says out.txt "net_tx"
done
echo "$checks checks"
