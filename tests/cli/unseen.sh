# SPDX-License-Identifier: GPL-3.0-or-later
# What comes later changes nothing before: a trace, and the same with all of its jobs a second time, are the same until
# the second begin, under every scheduler and every placement there is. (The second are as the first, so that
# distributions which policies may know stay what they are: of gittins, shortest-expected and fgd.)
. "$DLSIM_SOURCE/tests/support/cli.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }

cat >base.cfg <<'END'
schema_version = 1;
cluster: { nodes = ( { count = 2; gpus = 4; gpu_type = "V100"; rack_size = 1; nic = "10 Gb/s"; },
                     { count = 2; gpus = 2; gpu_type = "V100"; rack_size = 2; nic = "10 Gb/s"; } ); };
scheduler: { restore_cost = "30 s"; };
END
{ cat base.cfg; echo 'perf: { model = "trace"; elastic = "speeds.csv"; };'; } >schedulers.cfg
{ cat base.cfg; echo 'perf: { model = "operator"; }; predictor: { source = "operator"; calibrate = true; };'; } >placements.cfg
printf 'model,gpus,speed,batch\nresnet50,1,10,32\nresnet50,2,18,32\nresnet50,4,30,32\nbert-base,1,5,32\nbert-base,2,6,32\n' >speeds.csv
python3 - <<'END'
import random
draw = random.Random(7)
SECOND_S = 9000
jobs = []
for i in range(22):
    gpus, submit, run = draw.choice([1, 1, 2, 4, 4, 8]), draw.randrange(8000), draw.choice([40, 600, 2500, 6000])
    jobs.append((submit, gpus, run, draw.choice(["resnet50", "bert-base", "vgg16"]), draw.randrange(3), draw.randrange(2),
                 max(1, gpus // 2), min(8, gpus * 2)))
for name, shifts in ("first", [0]), ("both", [0, SECOND_S]):
    with open(name + ".csv", "w") as f:
        print("job_id,num_gpu,submit_time,duration,model_name,batch_size,user,vc,priority,deadline,limit,min_gpus,max_gpus", file=f)
        for shift in shifts:
            for i, (submit, gpus, run, model, user, vc, least, most) in enumerate(sorted(jobs)):
                t = submit + shift
                print(f"{shift}-{i},{gpus},{t},{run},{model},32,u{user},v{vc},{user},{t + 3 * run},{2 * run},{least},{most}", file=f)
END
for kind in schedulers placements; do
    expect 0 list $kind --json
    python3 -c 'import json; print("\n".join(p["name"] for p in json.load(open("out.txt"))))' >$kind.txt
    test "$(wc -l <$kind.txt)" -ge 15 || fail "few $kind: $(cat $kind.txt)"
    while read -r name; do
        for trace in first both; do
            expect 0 --config=$kind.cfg --trace=$trace.csv --scheduler=srtf --${kind%s}="$name" -o $trace.h5 --force -q
            expect 0 export --csv --table=allocations $trace.h5 -o $trace.rows --force -q
        done
        python3 - <<'END' || fail "$name of $kind: what came later changed what was before"
import csv, sys
SECOND_US = 9000 * 10**6
def before(path):
    rows = [r for r in csv.DictReader(open(path)) if int(r["start_us"]) < SECOND_US]
    return len(rows), sorted((r["job"], r["node"], r["start_us"], min(int(r["end_us"]), SECOND_US), r["gpu_mask"], r["rate"]) for r in rows)
(n, first), (_, both) = before("first.rows"), before("both.rows")
assert n >= 8, n
sys.exit(first != both)
END
        checks=$((checks + 1))
    done <$kind.txt
done
echo "$checks checks"
