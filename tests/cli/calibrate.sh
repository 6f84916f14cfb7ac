# SPDX-License-Identifier: GPL-3.0-or-later
# Learning from jobs that ran (predictor.calibrate), whole runs: with every source the same run twice, recorded and replayed;
# and nothing but what had been seen moves an answer.
. "$DLSIM_SOURCE/tests/support/cli.sh"
command -v python3 >/dev/null || exit 77
python3 - <<'EOF'
import json
def table(name, v100, k80):
    speeds = {"v100": v100, "p100": 6, "k80": k80}
    models = {"ResNet-18": (16, 32, 64, 128, 256), "ResNet-50": (16, 32, 64, 128), "LM": (5, 10, 20, 40, 80),
              "Transformer": (16, 32, 64, 128, 256), "Recommendation": (512, 1024, 2048, 4096, 8192), "CycleGAN": (1,), "A3C": (4,)}
    json.dump({t + end: {f"('{m} (batch size {b})', {g})": {"null": s * g * spread ** (g > 1) * 16 / b}
                         for m in models for b in models[m] for g in (1, 2, 4, 8)}
               for t, s in speeds.items() for end, spread in (("", 1), ("_unconsolidated", 0.6))}, open(name, "w"))
table("one.json", 10, 2)
table("other.json", 10, 0.3)
table("wrong.json", 1, 2)
with open("profiles.csv", "w") as file:
    file.write("model,iteration_s\nresnet50,0.2\nlm,0.1\n")
EOF
# run SOURCE OPTIONS...: the digest.
run() {
    "$dlsim" run --config="$source/configs/placement-measured.cfg" --set perf.table="$PWD/one.json" --set trace.max_jobs=100 \
        --set 'cluster.nodes[0].count=1' --set 'cluster.nodes[1].count=1' --set 'cluster.nodes[2].count=1' \
        --placement=driple --predictor="$@" --force 2>err.txt | sed -n 's/^digest *//p'
}
starts() { "$dlsim" export --csv --table=starts -q "$1.h5"; }
for words in oracle operator paleo habitat driple "table --set predictor.table=$PWD/wrong.json" \
    "profiles --set predictor.table=$PWD/profiles.csv"; do
    plain=$(run $words -o plain.h5)
    first=$(run $words --set predictor.calibrate=true -o first.h5)
    test -n "$first" && test -n "$plain" || fail "$words: $(cat err.txt)"
    # What it says differs, even where no decision does.
    { [ "$words" = oracle ] || ! cmp -s <(starts plain) <(starts first); } || fail "$words learned nothing"
    checks=$((checks + 1))
    # Models of no zoo are known to who has measured them.
    case $words in oracle | table* | profiles*) unknown=0 ;; *) unknown=2 ;; esac
    "$dlsim" inspect plain.h5 --json | grep -q '"unknown_kinds": '$unknown',*$' || fail "$words: not $unknown unknown models"
    checks=$((checks + 1))
    case $words in profiles*) continue ;; esac # a table is a recording already
    test "$(run $words --set predictor.calibrate=true --predictions=record:a.rec -o rec.h5)" = "$first" || fail "$words: not the same twice"
    test "$(run $words --set predictor.calibrate=true --predictions=replay:a.rec -o rep.h5)" = "$first" || fail "$words: replayed"
    checks=$((checks + 2))
done
# Two worlds in which only K80s differ: until a run on one has been seen nobody can know in which he is. Who asks the world does.
cat >compare.py <<'EOF'
import csv, sys
def starts(name):
    with open(name, newline="") as file:
        rows = list(csv.DictReader(file))
    k80 = [int(r["end_us"]) for r in rows if r["type"] in ("2", "K80")]
    assert k80, "no run on K80s"
    return rows, min(k80)
(a, seen_a), (b, seen_b) = map(starts, sys.argv[1:3])
seen = min(seen_a, seen_b)
def before(rows, early):
    return [(r["job"], r["start_us"], r["type"], r["n_nodes"], r["predicted_iteration_s"], r["predicted_remaining_s"])
            for r in rows if (int(r["start_us"]) < seen) == early]
print("same" if before(a, True) == before(b, True) else "other", "same" if before(a, False) == before(b, False) else "other")
print(len(before(a, True)), len(before(a, False)))
EOF
for who in operator oracle; do
    for world in one other; do
        run $who --set predictor.calibrate=true --set perf.table="$PWD/$world.json" -o $world.h5 >/dev/null
        starts $world >$world.csv
    done
    python3 compare.py one.csv other.csv >out.txt || fail "$who: compare.py"
    case $who in oracle) want="other other" ;; *) want="same other" ;; esac
    says out.txt "$want"
done
echo "$checks checks"
