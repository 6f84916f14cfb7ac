# SPDX-License-Identifier: GPL-3.0-or-later
# Inference services: the commands of docs/services.md and its table, what results hold, bad input.
. "$DLSIM_SOURCE/tests/support/cli.sh"
cp -r "$source/configs" "$source/traces" .
run_page "$source/docs/services.md"

run="run -q --config=configs/services.cfg --trace=traces/samples/philly_like_5000.csv --json"
quick="run -q --config=configs/services.cfg --trace=traces/samples/quick_60.csv --set run.audit=true"
keep="services.lend=false" late="services.ahead=0" ahead="services.ahead=5min"
for way in keep late ahead; do
    # shellcheck disable=SC2086
    expect 0 $run --set "${!way}" -o $way.h5
    cp out.txt $way.json
done
python3 - <<'END2' || fail "the services of three runs"
import json
keep, late, ahead = (json.load(open(f"{way}.json")) for way in ("keep", "late", "ahead"))
for s in (keep, late, ahead):
    v = s["services"]
    assert v["services"] == 2 and v["services_own_gpu_s"] >= v["services_used_gpu_s"] + v["services_lent_gpu_s"], v
    assert 0 < v["services_least_kept"] <= v["services_kept"] <= 1, v
assert keep["services"]["services_own_gpu_s"] == keep["services"]["services_used_gpu_s"]
assert keep["services"]["services_preemptions"] == 0 == keep["services"]["services_lent_gpu_s"]
assert late["services"]["services_least_kept"] < 1 == ahead["services"]["services_least_kept"]
assert late["services"]["services_preemptions"] > 100 and ahead["services"]["services_preemptions"] > 100
mean = [s["parts"][0]["jct_mean_s"] for s in (keep, late, ahead)]
assert mean[0] > 1.3 * mean[1] and abs(mean[1] / mean[2] - 1) < 0.02, mean
END2
# Parts of GPUs: the table of the page, in GPU-hours.
parts="run -q --config=configs/services.cfg --trace=pai.csv --json"
quarter="services.list[0].part=0.25"
four="services.list[0].per_gpu=4"
for way in "whole $quarter" "any $quarter" "mig $quarter" "any $four"; do
    # shellcheck disable=SC2086
    expect 0 $parts --set cluster.gpu_parts=${way% *} --set "${way#* }"
    cat out.txt >>parts.json
done
python3 - <<'END2' || fail "services with parts of GPUs"
import json
text, at, rows = open("parts.json").read(), 0, []
while at < len(text.rstrip()):
    s, at = json.JSONDecoder().raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
    v = s["services"]
    rows.append([round(v[f"services_{what}_gpu_s"] / 3600) for what in ("own", "used", "lent")]
                + [round(s["parts"][0]["jct_mean_s"] / 3600, 3), v["services_preemptions"]])
    assert v["services_least_kept"] == 1, v
assert rows == [[14233, 8404, 1433, 1.482, 69], [5474, 3239, 231, 1.425, 29], [6405, 3471, 384, 1.425, 22],
                [5474, 3289, 215, 1.425, 25]], rows
END2
expect 0 inspect late.h5
says out.txt "jobs preempted for them"
expect 0 inspect late.h5 --json
says out.txt '"services_least_kept"'

# Bad input: every problem, each with its place.
# shellcheck disable=SC2086
expect 3 $quick --set 'services.list[0].bound=20ms' --set 'services.list[1].share=1.5'
says err.txt "no number of GPUs keeps a bound of 0.02 s"
says err.txt "expected number 0.001..0.999999"
# shellcheck disable=SC2086
expect 3 $quick --set 'services.list[0].load=' --set 'services.list[1].gpu_type=P100'
says err.txt "expected text in quotes, not empty"
says err.txt "no node of the cluster has GPUs of type 'P100'"
# shellcheck disable=SC2086
expect 3 $quick --set 'services.list[0].load=; ;'
says err.txt "service 'chat': no load"
# shellcheck disable=SC2086
expect 3 $quick --set 'services.list[0].part=1.5' --set 'services.list[1].part=0'
says err.txt "'services.list[0].part'"
says err.txt "'services.list[1].part'"
# A service that cannot keep its bound with what it has: counted, and said.
# shellcheck disable=SC2086
expect 0 run --config=configs/services.cfg --trace=traces/samples/quick_60.csv --set 'services.list[0].gpus=1'
says out.txt "(the worst 0 %)"
# shellcheck disable=SC2086
expect 3 $quick --set 'services.list[0].gpus=4000'
says err.txt "on nodes of its own"
# shellcheck disable=SC2086
expect 3 $quick --scheduler=multi-dlas-gpu
says err.txt "cannot bear failures or services"
# slurm asks for GPUs by node, and never finds two whole ones beside a service that always has a GPU.
cat >held.cfg <<'END'
schema_version = 1;
cluster: { nodes = ( { count = 2; gpus = 8; gpu_type = "V100"; } ); };
services: { list = ( { name = "chat"; load = "0=1"; request = "0.1 s"; bound = "1 s"; gpus = 1; } ); };
run: { audit = true; patience = 1000; };
END
printf 'job_id,num_gpu,submit_time,duration\na,15,0,100\nb,16,0,100\nc,8,0,100\n' >held.csv
expect 0 --config=held.cfg --trace=held.csv --scheduler=slurm
says out.txt "3: 2 completed, 1 infeasible, 0 unfinished"
echo "$checks checks"
