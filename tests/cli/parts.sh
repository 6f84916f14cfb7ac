# SPDX-License-Identifier: GPL-3.0-or-later
# What of a prediction a placement's gain hangs on (docs/placement-study.md), on a table of two models: the errors that
# are printed, and that each mixture has the ratios that it is named after.
. "$DLSIM_SOURCE/tests/support/cli.sh"
command -v python3 >/dev/null || exit 77
cat >table.py <<'EOF'
import json
table = {}
for t, speed in ("v100", 1), ("p100", 0.5), ("k80", 0.1):
    for end, spread in ("", 1), ("_unconsolidated", 0.5):
        table[t + end] = {f"('{model} (batch size {batch})', {g})": {"null": 10 * speed * g * (spread if g > 1 else 1)}
                          for model, batch in (("ResNet-50", 64), ("Recommendation", 512), ("CycleGAN", 1))
                          for g in (1, 2, 8)}
json.dump(table, open("throughputs.json", "w"))
EOF
python3 table.py
python3 "$source/predictor/measured/parts.py" --dlsim="$dlsim" --replicas=2 throughputs.json parts >out.txt || fail "parts.py"
test "$(grep -c '^| [RC]' out.txt)" -eq 4 || fail "rows: $(cat out.txt)" # CycleGAN is unknown
grep -q '^| ResNet-50, more | 12 | [0-9.]* | 2.00 | [0-9.]* | 2.00 | [0-9.]* | 5.00 | [0-9.]* | [0-9]* |$' out.txt || fail "$(cat out.txt)"
checks=$((checks + 3))
cat >check.py <<'EOF'
import json
def part(name):
    return json.load(open(f"parts/{name}.json"))
def near(x, y):
    assert abs(x / y - 1) < 1e-9, (x, y)
net, words = "('ResNet-50 (batch size 64)', %d)", "('Recommendation (batch size 512)', 1)"
all_, guess = part("all"), part("nothing")
near(all_["p100_unconsolidated"][net % 8]["null"], 20)
types, spread, ratios = part("ratios-of-types"), part("ratio-of-spread-to-packed"), part("ratios-without-level")
for t in "v100", "p100", "k80":
    near(types[t][net % 8]["null"], all_[t][net % 8]["null"])
    near(types[t + "_unconsolidated"][net % 8]["null"] / types[t][net % 8]["null"],
         guess[t + "_unconsolidated"][net % 8]["null"] / guess[t][net % 8]["null"])
    near(spread[t][net % 8]["null"], guess[t][net % 8]["null"])
    near(spread[t + "_unconsolidated"][net % 8]["null"] / spread[t][net % 8]["null"], 0.5)
near(ratios["v100"][net % 8]["null"] / ratios["k80_unconsolidated"][net % 8]["null"], 20)
one, gangs, rest, only = part("one-GPU"), part("gangs"), part("all-but-Recommendation"), part("Recommendation")
near(one["k80"][net % 1]["null"], 1)
near(one["k80"][net % 2]["null"], guess["k80"][net % 2]["null"])
near(gangs["k80"][net % 1]["null"], guess["k80"][net % 1]["null"])
near(rest["k80"][words]["null"], guess["k80"][words]["null"])
near(only["k80"][words]["null"], 1)
assert all(abs(guess[t][net % 1]["null"] / all_[t][net % 1]["null"] - 1) > 1e-3 for t in ("v100", "p100", "k80"))
EOF
python3 check.py || fail "mixtures"
expect 0 study parts/parts.cfg --set trace.max_jobs=20 --force -o runs
says out.txt "/nothing.json"
echo "$((checks + 1)) checks"
