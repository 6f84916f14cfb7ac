# SPDX-License-Identifier: GPL-3.0-or-later
# Energy, cost and carbon: jobs, summary and series against sums over the exported allocations; nothing changes for a run
# that does not ask; a power limit makes jobs slower; what cannot be accounted for is an error.
. "$DLSIM_SOURCE/tests/support/cli.sh"

cat >two.cfg <<'END'
schema_version = 1;
cluster: { nodes = ({ name = "a"; count = 4; gpus = 8; gpu_type = "V100-PCIE"; },
                    { name = "b"; count = 2; gpus = 8; gpu_type = "A100"; }); };
trace: { path = "trace.csv"; };
scheduler: { name = "srtf"; };
placement: { name = "first-fit"; };
energy: { gpus = "V100-PCIE=40:240"; utilisation = 0.6; node = 400; pue = 1.3; prices = "prices.csv"; carbon = 350; };
END
expect 0 trace generate --profile=philly --jobs=600 --gpus=48 --load=0.8 --seed=3 -o trace.csv -q
{ echo time_s,value; for hour in $(seq 1 4000); do echo "$((hour * 3600)),$((hour % 7)).25"; done; } >prices.csv

expect 0 --config=two.cfg --json -q
cp out.txt off.json
expect 0 --config=two.cfg --set energy.account=true --json -o run.h5 -q
cp out.txt on.json
expect 0 export --csv run.h5 -o jobs.csv -q
expect 0 export --csv --table=allocations run.h5 -o allocations.csv -q
expect 0 export --csv --table=series run.h5 -o series.csv -q
python3 - <<'END' || fail "sums over the allocations"
import bisect, csv, itertools, json
off, on = json.load(open("off.json")), json.load(open("on.json"))
assert "energy" not in off and off["digest"] == on["digest"] and off["history_digest"] == on["history_digest"]
e = on["energy"]
hours = [3600 * h for h in range(1, 4001)]
price = [h % 7 + 0.25 for h in range(1, 4001)]
until = list(itertools.accumulate((3600 * v for v in price), initial=0))
def price_until(t):
    """Integral of the price from the first hour to second t."""
    i = min(max(0, bisect.bisect(hours, t) - 1), len(hours) - 1)
    return until[i] + price[i] * (t - hours[i])
def price_over(a, b):
    return price_until(b) - price_until(a)
rest = [40] * 4 + [80] * 2
work = [40 + 0.6 * 200] * 4 + [80 + 0.6 * 320] * 2
jobs = list(csv.DictReader(open("jobs.csv")))
joule, cost = [0.0] * len(jobs), [0.0] * len(jobs)
for r in csv.DictReader(open("allocations.csv")):
    a, b, node = int(r["start_us"]) / 1e6, int(r["end_us"]) / 1e6, int(r["node"])
    w = 1.3 * int(r["gpus"]) * (work if float(r["rate"]) > 0 else rest)[node]
    joule[int(r["job"])] += w * (b - a)
    cost[int(r["job"])] += w * price_over(a, b) / 3.6e6
near = lambda x, y: abs(x - y) <= 1e-6 * max(1, abs(y))
for j, row in enumerate(jobs):
    assert near(float(row["energy_j"]), joule[j]), (j, row, joule[j])
    assert near(float(row["cost"]), cost[j]), (j, row, cost[j])
    assert near(float(row["carbon_g"]), joule[j] / 3.6e6 * 350), (j, row)
assert near(e["jobs_kwh"], sum(joule) / 3.6e6) and near(e["jobs_cost"], sum(cost))
span = on["span_s"]
assert near(e["nodes_kwh"], 1.3 * 6 * 400 * span / 3.6e6), e
held = sum(int(r["gpus"]) * rest[int(r["node"])] * (int(r["end_us"]) - int(r["start_us"])) / 1e6
           for r in csv.DictReader(open("allocations.csv")))
assert near(e["idle_kwh"], 1.3 * ((32 * 40 + 16 * 80) * span - held) / 3.6e6), e
assert near(e["energy_kwh"], e["jobs_kwh"] + e["idle_kwh"] + e["nodes_kwh"])
assert near(e["power_mean_kw"], e["energy_kwh"] * 3600 / span) and near(e["carbon_kg"], e["energy_kwh"] * 0.35)
first = on["first_submit_s"]
base = 1.3 * (6 * 400 + 32 * 40 + 16 * 80) / 3.6e6
extra = sum(cost) - 1.3 / 3.6e6 * sum(int(r["gpus"]) * rest[int(r["node"])] * price_over(int(r["start_us"]) / 1e6, int(r["end_us"]) / 1e6)
                                    for r in csv.DictReader(open("allocations.csv")))
assert near(e["cost"], base * price_over(first, first + span) + extra), (e["cost"],)
rows = list(csv.DictReader(open("series.csv")))
joules = sum(float(a["power_w"]) * (int(b["t_us"]) - int(a["t_us"])) / 1e6 for a, b in zip(rows, rows[1:]))
assert abs(joules / 3.6e6 / e["energy_kwh"] - 1) < 1e-4, (joules / 3.6e6, e)
END
checks=$((checks + 1))
expect 0 inspect run.h5
says out.txt "energy "
expect 0 --config=two.cfg -q -o off.h5
expect 0 export --csv off.h5 -o off.csv -q
! head -1 off.csv | grep -q energy || fail "columns of energy in a run without"

# A limit: by the law of sim/cluster/power.h, all jobs by the same factor on GPUs of one type.
cat >one.cfg <<'END'
schema_version = 1;
cluster: { nodes = ({ count = 60; gpus = 8; gpu_type = "V100-PCIE"; }); };
trace: { path = "trace.csv"; };
placement: { name = "first-fit"; };
perf: { model = "speeds"; };
energy: { account = true; utilisation = 0.9; };
END
expect 0 --config=one.cfg --json -q
cp out.txt whole.json
expect 0 --config=one.cfg --set energy.limit=150 --json -q
python3 - <<'END' || fail "a power limit: $(head -c 600 out.txt)"
import json
whole, less = json.load(open("whole.json"))["energy"], json.load(open("out.txt"))["energy"]
static, most, limit = 20.85, 250, 150
mean = static + 0.9 * (most - static)
duty = 0.9 ** 0.619
peak = static + (mean - static) / duty
busy = duty * ((limit - static) / (peak - static)) ** (-1 / 2.151)
w = (busy * limit + (1 - duty) * static) / (busy + 1 - duty)
ratio = w * (busy + 1 - duty) / mean
assert abs(less["jobs_kwh"] / whole["jobs_kwh"] - ratio) < 2e-3, (less["jobs_kwh"] / whole["jobs_kwh"], ratio)
END
checks=$((checks + 1))
expect 0 whatif one.cfg --set energy.limit=150 --json
python3 -c '
import json
groups = json.load(open("out.txt"))["groups"]
every, sizes = groups[0], [g for g in groups if g["kind"] == "GPUs"]
for side in ("before", "after"):
    assert every[side]["energy_kwh"] > 0
    assert abs(sum(g[side]["energy_kwh"] for g in sizes) / every[side]["energy_kwh"] - 1) < 1e-9
assert every["after"]["energy_kwh"] < 0.9 * every["before"]["energy_kwh"]' || fail "energy of a what-if"

# Four jobs on quarters of a GPU draw what one on all of it does.
printf 'schema_version = 1;\ncluster: { gpu_parts = "any"; nodes = ({ count = 1; gpus = 1; gpu_type = "V100"; }); };\n' >parts.cfg
printf 'job_id,num_gpu,submit_time,duration\n0,1,0,3600\n' >whole.csv
printf 'job_id,num_gpu,submit_time,duration\n0,0.25,0,3600\n1,0.25,0,3600\n2,0.25,0,3600\n3,0.25,0,3600\n' >quarters.csv
for trace in whole quarters; do
    expect 0 --config=parts.cfg --trace=$trace.csv --set energy.account=true --json -q
    grep -E '"(energy|jobs|idle)_kwh"' out.txt >$trace.txt
done
cmp whole.txt quarters.txt && grep -q '"idle_kwh": 0,' quarters.txt || fail "energy of parts of a GPU"

# What cannot be.
expect 3 --config=two.cfg --set energy.account=true --set results.allocations=false -q
says err.txt "results.allocations"
expect 3 --config=two.cfg --set energy.limit=200 -q
says err.txt "perf.model"
printf 'job_id,utilisation\n0,1\n' >use.csv
expect 3 --config=one.cfg --set energy.limit=150 --set energy.profiles=use.csv -q
says err.txt "does not go with 'energy.profiles'"
expect 3 --config=one.cfg --set energy.limit=20 -q
says err.txt "'energy.limit' is 20 W: a V100-PCIE draws 20.85 W at rest"
expect 3 --config=two.cfg --set energy.account=true --set energy.gpus=nonsense -q
says err.txt "STATIC:MOST"
printf 'time_s,value\n10,0.1\n5,0.2\n' >prices.csv
expect 4 --config=two.cfg --set energy.account=true -q
says err.txt "prices.csv:3"
printf 'time_s,value\n10,-1\n' >prices.csv
expect 4 --config=two.cfg --set energy.account=true -q
printf 'time_s,value\n' >prices.csv
expect 4 --config=two.cfg --set energy.account=true -q

ln -s "$source/configs" configs
ln -s "$source/traces" traces
run_page "$source/docs/energy.md"
echo "$checks checks"
