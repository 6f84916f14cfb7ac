# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim whatif: what does not change changes nothing; numbers and intervals are those of the jobs; the fewest nodes
# hold the target and one fewer does not; speeds, quotas, load; the report; options that say nothing.
. "$DLSIM_SOURCE/tests/support/cli.sh"

check() {
    python3 - "$@" || fail "$1: $(head -c 1500 out.txt)"
    checks=$((checks + 1))
}
cat >site.cfg <<'END'
schema_version = 1;
cluster: { nodes = ({ name = "old"; count = 6; gpus = 8; gpu_type = "V100"; }); };
trace: { path = "trace.csv"; };
scheduler: { name = "fifo"; discipline = "fit"; };
placement: { name = "first-fit"; };
END
expect 0 trace generate --profile=philly --jobs=4000 --gpus=48 --load=0.8 --seed=3 -o trace.csv -q

# Nothing changed.
expect 0 whatif site.cfg --json
check same <<'END'
import json
a = json.load(open("out.txt"))
assert a["grade"] == "-" and "wait" in a["ungraded"] and a["load"] == 1 and a["options"] == [], a
assert a["before"] == a["after"] and a["blocks"] >= 4, a
for g in a["groups"]:
    assert g["before"] == g["after"], g
    for key in ("wait_mean_change", "wait_p95_change"):
        assert all(g[key][k] in (0, None) for k in ("value_s", "low_s", "high_s")), g
sizes = [g for g in a["groups"] if g["kind"] == "GPUs"]
assert sum(g["before"]["jobs"] for g in sizes) == 4000 and len(sizes) > 2, sizes
assert sum(g["before"]["jobs"] for g in a["groups"] if g["kind"] == "partition") == 4000
END

# Fewer nodes: numbers, intervals and changes from the jobs themselves.
expect 0 whatif site.cfg --remove 'V100: 1' -o two --json
says two/report.html "Changed: <code>--remove=&#x27;V100: 1&#x27;</code>"
for text in "Grade of the replay" "Intervals: 95 %" "completion, mean"; do says two/report.html "$text"; done
! grep -q "Energy of jobs" two/report.html || fail "energy that nobody asked for"
# Under the sanitizers no Python draws the other pages, of which nothing is asked then.
[ "${DLSIM_SANITIZE:-0}" = 0 ] || export DLSIM_PYTHON=true
page() { [ "${DLSIM_SANITIZE:-0}" = 1 ] || says "$@"; }
expect 0 export --csv two/before.h5 -o before.csv -q
expect 0 export --csv two/after.h5 -o after.csv -q
check numbers <<'END'
import csv, json, math, random
a = json.load(open("two/whatif.json"))
assert a["before"]["gpus"] == 48 and a["after"]["gpus"] == 40, a
side = {}
for name in ("before", "after"):
    side[name] = [(int(j["submit_us"]), int(j["start_us"])) for j in csv.DictReader(open(name + ".csv"))]
every = a["groups"][0]
blocks = {name: [[] for _ in range(a["blocks"])] for name in side}
for name, jobs in side.items():
    waits = sorted((s - t) / 1e6 for t, s in jobs if s >= 0)
    assert every[name]["never_started"] == len(jobs) - len(waits)
    assert abs(every[name]["wait_mean"]["value_s"] - sum(waits) / len(waits)) < 1e-3
    assert abs(every[name]["wait_p95"]["value_s"] - waits[math.ceil(0.95 * len(waits)) - 1]) < 1e-3
    for t, s in jobs:
        if s >= 0:
            blocks[name][int(t / 1e6 / a["block_s"])].append((s - t) / 1e6)
assert every["wait_mean_change"]["value_s"] > 0
# The same bootstrap with other random numbers has nearly the same bounds.
random.seed(5)
def mean(name, drawn):
    return sum(sum(blocks[name][b]) for b in drawn) / sum(len(blocks[name][b]) for b in drawn)
changes = []
for _ in range(4000):
    drawn = random.choices(range(a["blocks"]), k=a["blocks"])
    changes.append(mean("after", drawn) - mean("before", drawn))
changes.sort()
low, high = changes[100], changes[3900]
got = every["wait_mean_change"]
width = high - low
assert abs(got["low_s"] - low) < 0.2 * width and abs(got["high_s"] - high) < 0.25 * width, (got, low, high)
END

# The fewest nodes: as a run with that number has it, and one fewer does not do.
expect 0 whatif site.cfg --target 'p95 wait of 8 GPUs < 30 min' --json
check target <<'END'
import json
a = json.load(open("out.txt"))
t = a["target"]
assert t["group"] == "old" and t["wait"]["value_s"] < 1800, t
tried = {x["nodes"]: x["holds"] for x in t["tried"]}
assert tried[t["fewest_nodes"]] and tried[t["fewest_nodes"] - 1] is False, t
assert a["after"]["gpus"] == 8 * t["fewest_nodes"], a
eight = [g for g in a["groups"] if (g["kind"], g["name"]) == ("GPUs", "8")][0]
assert eight["after"]["wait_p95"] == t["wait"], (eight, t)
open("fewest", "w").write(str(t["fewest_nodes"]))
END
expect 0 whatif site.cfg --set "cluster.nodes[0].count=$(($(cat fewest) - 1))" --json
check one_fewer <<'END'
import json
a = json.load(open("out.txt"))
eight = [g for g in a["groups"] if (g["kind"], g["name"]) == ("GPUs", "8")][0]["after"]
assert eight["never_started"] or eight["wait_p95"]["value_s"] >= 1800, eight
END
# What was changed, as it was given.
vc=$(grep -v '^#' trace.csv | awk -F, 'NR==1 { for (i = 1; i <= NF; i++) if ($i == "vc") c = i } NR==2 { print $c }')
expect 0 whatif site.cfg --load 0.90 -s easy --add 'V100: 1 x 8' --add='V100: 1 x 4' --remove 'old: 2' --quota "$vc=40" --set scheduler.estimates=exact --target 'mean wait < 1h' --json
check options "$vc" <<'END'
import json, sys
assert [(o["name"], o["value"]) for o in json.load(open("out.txt"))["options"]] == [
    ("load", "0.90"), ("scheduler", "easy"), ("add", "V100: 1 x 8"), ("add", "V100: 1 x 4"), ("remove", "old: 2"), ("quota", sys.argv[2] + "=40"),
    ("set", "scheduler.estimates=exact"), ("target", "mean wait < 1h")], open("out.txt").read(900)
END
# Too few nodes for a job at all say nothing of twice as many.
expect 0 whatif site.cfg --remove 'old: all' --add 'V100: 1 x 1' --target 'p95 wait of 8 GPUs < 1000h' --json
check few <<'END'
import json
t = json.load(open("out.txt"))["target"]
tried = {x["nodes"]: x["wait_s"] for x in t["tried"]}
assert tried[1] is tried[2] is tried[4] is None and t["fewest_nodes"] >= 8, t
END
# Nor are fewer tried than a quota promises.
expect 0 whatif site.cfg --quota "$vc=20" --target 'p50 wait < 90000h' --json
check promised <<'END'
import json
t = json.load(open("out.txt"))["target"]
assert t["fewest_nodes"] == 3 and {x["nodes"]: x["wait_s"] for x in t["tried"]}[2] is None, t
END
expect 2 whatif site.cfg --target 'mean wait of partition nowhere < 1h'
expect 0 whatif site.cfg --target 'mean wait < 1 us' --json
check never <<'END'
import json
t = json.load(open("out.txt"))["target"]
assert "fewest_nodes" not in t or t["wait"]["value_s"] < 1e-6, t
END

# A new type: predicted, or as given; jobs then take their time divided by it.
expect 0 whatif site.cfg --add 'h100: 6 x 8' --remove 'old: all' --speed h100=2 -o faster --json
expect 0 export --csv faster/after.h5 -o after.csv -q --force
check speed <<'END'
import csv, json
a = json.load(open("faster/whatif.json"))
assert a["speeds"] == [{"type": "h100", "reference": "V100", "speed": 2, "least": 2, "most": 2, "given": True}], a
done = [j for j in csv.DictReader(open("after.csv")) if int(j["end_us"]) > 0]
assert len(done) > 3900
assert all(abs(int(j["executed_us"]) - int(j["duration_us"]) / 2) <= 2 for j in done)
END
expect 0 whatif site.cfg --add 'A100: 2 x 8' --json
check predicted <<'END'
import json
a = json.load(open("out.txt"))
s = a["speeds"][0]
assert s["reference"] == "V100" and not s["given"] and 1 < s["least"] < s["speed"] < s["most"] < 4, s
assert a["after"]["gpus"] == 64
END
# More of the same type have no speed of their own.
expect 0 whatif site.cfg --add 'v100: 2 x 8' --json
check alike <<'END'
import json
a = json.load(open("out.txt"))
assert a["speeds"] == [] and a["after"]["gpus"] == 64 and a["groups"][0]["wait_mean_change"]["value_s"] < 0, a
END

# Load and quotas.
expect 0 whatif site.cfg --load 1.5 --json
check load <<'END'
import json
a = json.load(open("out.txt"))
n = a["groups"][0]["after"]["jobs"]
assert abs(n - 6000) < 120 and 1.2 < a["load"] < 1.8 and a["groups"][0]["wait_mean_change"]["value_s"] > 0, (n, a["load"])
END
expect 0 whatif site.cfg --load 0.5 --scheduler srtf --placement consolidated --json
expect 0 whatif site.cfg --quota "$vc=8" --json
expect 2 whatif site.cfg --quota "nobody=8"
says err.txt 'no job is of a partition "nobody", but for example of'

# Which jobs there are, and which count, is the same on both sides.
for key in trace.max_jobs=10 trace.path=trace.csv results.warmup=2d results.cooldown=1d; do
    expect 2 whatif site.cfg --set "$key"
    says err.txt "so it goes with --both"
done
expect 2 whatif site.cfg --both results.warmup=1000d
says err.txt "no job that counts"

# Options that say nothing, or something wrong.
for words in "--add h100" "--add h100:16" "--add h100:0x8" "--remove old:7" "--remove a100:1" "--quota x" "--quota x=many" \
    "--speed h100=2" "--vary new --target=mean_wait<1h" "--load 0"; do
    # shellcheck disable=SC2086
    expect 2 whatif site.cfg $words
done
for target in "wait < 1h" "mean wait" "p95 wait of 8 < 1h" "p101 wait < 1h" "mean wait < soon" "mean wait < -1h" "mean wait < 0" "mean wait of GPUs 8 < 1h" "mean wait of 8x GPUs < 1h" \
    "mean wait of 8.5 GPUs < 1h"; do
    expect 2 whatif site.cfg --target "$target"
    says err.txt "--target"
done
expect 2 whatif site.cfg --both perf.model=speeds --both perf.speeds=V100=1 --add 'h100: 1 x 8' --speed h100=2
says err.txt "speeds"
expect 2 whatif site.cfg --vary new --target 'mean wait < 1h'
expect 3 whatif site.cfg --add 'mygpu: 1 x 8'
expect 3 whatif site.cfg --scheduler nonsense
says err.txt "nonsense"
expect 3 whatif missing
expect 2 whatif
expect 5 whatif site.cfg -o trace.csv/folder
mkdir read
for name in before.h5 after.h5 whatif.json report.html; do
    cp trace.csv read/$name
    sed "s|\"trace.csv\"|\"read/$name\"|" site.cfg >reads.cfg
    expect 5 whatif reads.cfg -o read
    says err.txt "read/$name: is also an input: it would be replaced"
    cmp trace.csv read/$name || fail "read/$name was replaced"
    rm read/$name
    [ -z "$(ls read)" ] || fail "files beside an input: $(ls read)"
done

# Where zero lies changes nothing; what the warm-up leaves out is in no wait.
for first in 0 777000000; do
    awk -v first=$first -F, -v OFS=, '/^#/ { print; next } !n++ { print $0, "queue"; next } { $3 += first; print $0, 60 }' trace.csv >late.csv
    sed 's|"trace.csv"|"late.csv"|' site.cfg >late.cfg
    expect 0 whatif late.cfg --load 1.3
    cp out.txt load$first.txt
    expect 0 fidelity late.cfg --jobs=0
    cp out.txt fidelity$first.txt
done
cmp load0.txt load777000000.txt || fail "load and intervals of a history that begins late"
cmp fidelity0.txt fidelity777000000.txt || fail "busy GPUs of a history that begins late"
expect 0 whatif site.cfg --both results.warmup=3d --json
cp out.txt warm.json
expect 0 run --config=site.cfg --set results.warmup=3d --json -q
check warm <<'END'
import json
g = json.load(open("warm.json"))["groups"][0]["before"]
all = json.load(open("out.txt"))["parts"][0]
assert g["jobs"] == all["jct_n"] < 4000, (g["jobs"], all["jct_n"])
assert abs(g["wait_mean"]["value_s"] / all["first_start_mean_s"] - 1) < 1e-9, (g, all["first_start_mean_s"])
END

ln -s "$source/tests" tests
run_page "$source/docs/whatif.md"
page answer/report.html "No intervals"
expect 0 whatif site.cfg --target 'p50 wait < 30 min' -o aimed
for text in "Nodes that were tried: " ", holds"; do page aimed/report.html "$text"; done
! grep -qs "never started" aimed/report.html || fail "a column of nothing"
expect 0 whatif site.cfg --remove 'V100: 5' -o few
page few/report.html "never started"
# No job is done after the change.
expect 0 whatif site.cfg --set run.until=0.5 -o none
page none/report.html "<td>makespan</td><td>"
page none/report.html "</td><td>-</td></tr>"
expect 0 whatif site.cfg --remove 'V100: 1' --both energy.account=true -o watts
page watts/report.html "Energy of jobs"
# Copies of more load have their deadline as long after their submission, and their job's profile.
python3 - <<'END' >late.csv
print("job_id,num_gpu,submit_time,duration,deadline")
for i in range(40): print(f"j{i},1,{1800*i},600,{1800*i+1000+i}")
print("j3+1,1,5400,600,6403")  # the site's own, a part of a heterogeneous job, and no copy
END
printf 'job_id,utilisation\n' >profile.csv
for i in $(seq 0 39); do printf 'j%d,0.%02d\n' "$i" "$((i + 10))"; done >>profile.csv
cat >late.cfg <<'END'
schema_version = 1;
cluster: { nodes = ({ name = "n"; count = 20; gpus = 8; gpu_type = "V100"; }); };
trace: { path = "late.csv"; };
energy: { account = true; profiles = "profile.csv"; };
END
expect 0 whatif late.cfg --load 2.5 -s fifo -o late --json
expect 0 export --csv late/after.h5 -o late_jobs.csv
python3 - <<'END' || fail "copies: $(head -5 late_jobs.csv)"
import csv
rows = {r["id"]: r for r in csv.DictReader(open("late_jobs.csv"))}
copies = [id for id in rows if "+" in id and id != "j3+1" and not id.startswith("j3+1+")]
assert abs(float(rows["j3+1"]["energy_j"]) / float(rows["j3"]["energy_j"]) - 1) > 0.1, "the site's own has a profile"
assert sum(id.startswith("j3+") for id in copies) >= 1, copies
assert len(copies) > 40 and any(rows[id]["submit_us"] != rows[id.split("+")[0]]["submit_us"] for id in copies), copies
for id in copies:
    one, of = rows[id], rows[id.split("+")[0]]
    assert int(one["deadline_us"]) - int(one["submit_us"]) == int(of["deadline_us"]) - int(of["submit_us"]) > 0, (one, of)
    assert abs(float(one["energy_j"]) - float(of["energy_j"])) < 1e-6 * float(of["energy_j"]), (one, of)
END
checks=$((checks + 1))
echo "$checks checks"
