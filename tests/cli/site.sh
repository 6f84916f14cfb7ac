# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim import slurm and dlsim fidelity: recordings of a real Slurm (tests/slurm) replayed and graded; every
# command of docs/sites.md; dumps that are cut off, odd or not what they are said to be.
. "$DLSIM_SOURCE/tests/support/cli.sh"

# site_of NAME [OPTION]...: a recording imported
site_of() {
    local from=$source/tests/slurm/$1 shares=
    test ! -e "$from/sshare.txt" || shares=--shares=$from/sshare.txt
    expect 0 import slurm --sacct="$from/sacct.txt.gz" --nodes="$from/nodes.txt" --conf="$from/config.txt" \
        $shares "${@:2}" -o "$1"
}

# recorded NAME TAU MEAN_PART: replays at least as near as when the numbers of docs/sites.md were taken.
recorded() {
    site_of "$1"
    expect 0 fidelity "$1" --json
    python3 - "$2" "$3" <<'END' || fail "the replay of $1: $(head -c 1500 out.txt)"
import json, sys
f = json.load(open("out.txt"))
every = f["groups"][0]
assert f["left_out"] == 0 and every["kind"] == "all" and f["jobs"] == every["jobs"] > 100, f
assert f["replays"] == 15 and 0.7 < f["self_tau"] < 1 and 0.7 < f["held_out_tau"] < 1, f
assert f["tau"] >= float(sys.argv[1]), f["tau"]
assert abs(every["replayed_wait_s"] / every["recorded_wait_s"] - 1) <= float(sys.argv[2]), every
assert f["passed_same"] >= 0.92 * f["passed"], f
assert sum(g["jobs"] for g in f["groups"] if g["kind"] == "GPUs") == f["jobs"], f["groups"]
assert abs(f["recorded_busy"] - f["replayed_busy"]) < 0.05, f
END
    checks=$((checks + 1))
}
recorded builtin 0.995 0.03
recorded basic 0.96 0.03
recorded every_second 0.91 0.09
recorded multifactor 0.89 0.05

# With what the controller's log has between seconds every job starts when and in the order that Slurm started it.
for name in fair exclusive; do
    site_of $name --log="$source/tests/slurm/$name/slurmctld.log.gz"
    expect 0 fidelity $name --json --least=A
    python3 - <<'END' || fail "the replay of $name by its log: $(head -c 1500 out.txt)"
import json
f = json.load(open("out.txt"))
every = f["groups"][0]
assert f["replays"] == 1 and f["left_out"] == 0 and f["jobs"] >= 250, f
assert f["tau"] > 0.99999 and every["start_off_p95_s"] < 0.001 and f["passed_same"] == f["passed"] > 0, f
assert all(abs(j["replayed_start_s"] - j["recorded_start_s"]) < 0.001 for j in f["farthest_off"]), f["farthest_off"]
END
    checks=$((checks + 1))
done
# Jobs without GPUs wait in the same queue and hold processors of the nodes: without them jobs with GPUs wait too little.
for log in "" --log="$source/tests/slurm/mixed/slurmctld.log.gz"; do
    # shellcheck disable=SC2086
    site_of mixed $log
    says err.txt "jobs without GPUs: 48, first in line 3; on nodes with GPUs 48"
    says err.txt "replayed: 48"
    expect 0 fidelity mixed --json --least=B
    mv out.txt with.txt
    expect 0 fidelity mixed --json --set=scheduler.cpu_jobs=
    python3 - "$log" <<'END' || fail "jobs without GPUs: $(head -c 1500 with.txt)"
import json, sys
f, alone = json.load(open("with.txt")), json.load(open("out.txt"))
every, other = f["groups"][0], alone["groups"][0]
assert f["jobs"] == 112 and f["left_out"] == 0, f
assert f["tau"] >= (0.99999 if sys.argv[1] else 0.957), f["tau"]
assert not sys.argv[1] or all(abs(j["replayed_start_s"] - j["recorded_start_s"]) < 0.001 for j in f["farthest_off"]), f["farthest_off"]
assert abs(every["replayed_wait_s"] / every["recorded_wait_s"] - 1) < 0.03, every
assert other["replayed_wait_s"] < 0.8 * other["recorded_wait_s"], other
END
    checks=$((checks + 1))
done
bad_jobs() {
    printf 'submit,duration,limit,nodes,cpus,mem_mib,user,account,partition\n%b\n' "$1" >bad_jobs.csv
    expect "$3" fidelity mixed --set=scheduler.cpu_jobs=bad_jobs.csv
    test -z "$2" || says err.txt "$2"
}
bad_jobs '0,10,60,1,8,,a,b' "bad_jobs.csv:2: expected submit" 4
bad_jobs '0,10,60,1,8,,a,b,\n\n-1,10,60,1,8,,a,b,c' "bad_jobs.csv:4: is earlier" 4
bad_jobs '0,-1,60,1,8,,a,b,' "expected seconds" 4
bad_jobs '0,10,0,1,8,,a,b,' "expected seconds" 4
bad_jobs '0,10,,0,8,,a,b,' "numbers of nodes, processors" 4
bad_jobs '0,10,,1,many,,a,b,' "numbers of nodes, processors" 4
bad_jobs '0,1000000,,1,65,,a,b,\n0,1000000,,5,1,,a,b,' "" 0 # more than the cluster has: left out
expect 0 --config=mixed/cluster.cfg --set=scheduler.cpu_jobs=bad_jobs.csv --json -q
says out.txt '"policy_fallbacks": 2'

# Partitions that overlap, of two tiers.
for log in "" --log="$source/tests/slurm/partitions/slurmctld.log.gz"; do
    # shellcheck disable=SC2086
    site_of partitions --partitions="$source/tests/slurm/partitions/partitions.txt" $log
    says err.txt "partitions: 3"
    says partitions/partitions.csv "high,10,1,,,2,5"
    expect 0 fidelity partitions --json --least=C
    mv out.txt with.txt
    expect 0 fidelity partitions --json --set=scheduler.partitions=
    python3 - "$log" <<'END' || fail "partitions: $(head -c 1500 with.txt)"
import json, sys
f, one = json.load(open("with.txt")), json.load(open("out.txt"))
every, high = f["groups"][0], [g for g in f["groups"] if g["name"] == "high"][0]
assert f["jobs"] == 200 and f["left_out"] == 0 and f["tau"] >= (0.988 if sys.argv[1] else 0.94), f["tau"]
assert abs(every["replayed_wait_s"] / every["recorded_wait_s"] - 1) < 0.04, every
assert high["start_off_p95_s"] < 0.001 or not sys.argv[1], high
assert one["tau"] < 0.8 and one["groups"][0]["replayed_wait_s"] < 0.8 * every["recorded_wait_s"], one["tau"]
END
    checks=$((checks + 1))
done
# What jobs ask for decides their priority until a scheduler has looked at them, and jobs without GPUs that ran before the
# first with GPUs hold nodes: with both every job starts when it did.
site_of mixed_fair --log="$source/tests/slurm/mixed_fair/slurmctld.log.gz"
says err.txt "jobs without GPUs: 77, first in line 2; on nodes with GPUs 77"
grep -q '^-1.915,' mixed_fair/cpu_jobs.csv || fail "a job before the first with GPUs: $(head -3 mixed_fair/cpu_jobs.csv)"
grep -qx '3,1,normal,,,' mixed_fair/jobs.csv || fail "processors asked for: $(head -3 mixed_fair/jobs.csv)"
for table in jobs cpu_jobs; do
    expect 0 fidelity mixed_fair --json --set=scheduler.$table=
    mv out.txt without_$table.txt
done
expect 0 fidelity mixed_fair --json --least=A
python3 - <<'END' || fail "mixed_fair: $(head -c 1500 out.txt)"
import json
f = json.load(open("out.txt"))
every = f["groups"][0]
assert f["jobs"] == 103 and f["left_out"] == 0 and f["tau"] > 0.99999 and every["start_off_p95_s"] < 0.001, (f["tau"], every)
for other in ("jobs", "cpu_jobs"):
    assert json.load(open(f"without_{other}.txt"))["tau"] < 0.93, other
END
checks=$((checks + 1))

# QoS that preempts, a reservation, a drained node, dependencies, memory, priorities of partitions.
from=$source/tests/slurm/policies
policies() {
    site_of policies --partitions="$from/partitions.txt" --qos="$from/qos.txt" --events="$from/events.txt" \
        --reservations="$from/reservations.txt" "$@"
}
policies
for text in "80 jobs of GPUs" "waited for others to end (SubmitLine): 6" "runs that were preempted, left to the replay: 3"; do
    says err.txt "$text"
done
grep -qx '35,,normal,,32,' policies/jobs.csv || fail "a dependency: $(grep '^35,' policies/jobs.csv)"
grep -qx 'high,100,normal,requeue,0,0' policies/qos.csv || fail "QoS: $(cat policies/qos.csv)"
printf 'reservation,known,start,end,first,last\n,,182,193,3,3\nservice,,98,158,0,0\n' | diff - policies/outages.csv || fail "outages"
printf 'partition,tier,factor,limit,most,first,last\nmain,1,0.1,,,0,3\nshort,1,1,540,540,0,3\n' | diff - policies/partitions.csv || fail "partitions"
says policies/cluster.cfg 'memory = "512000 MiB"'
for text in "preempt = true" "weight_qos = 1000" "weight_partition = 500" 'restore_cost = "0 s"' "lost_on_preemption = true"; do
    says policies/cluster.cfg "$text"
done
expect 0 fidelity policies --json --least=C
mv out.txt all.txt
for key in qos= jobs= outages= partitions=; do
    expect 0 fidelity policies --json --set=scheduler.$key
    mv out.txt "$key.txt"
done
site_of policies
expect 0 fidelity policies --json
python3 - <<'END' || fail "policies: $(head -c 1500 all.txt)"
import json
tau = {k: json.load(open(k + ".txt"))["tau"] for k in ("all", "qos=", "jobs=", "outages=", "partitions=")}
assert tau["all"] > 0.91, tau
assert json.load(open("out.txt"))["tau"] < 0.8, "nothing of it read"
assert all(tau["all"] != tau[k] for k in tau if k != "all"), tau
END
policies --log="$from/slurmctld.log.gz"
says policies/outages.csv "service,23.254"
expect 0 fidelity policies --json
python3 - <<'END' || fail "policies by the log: $(head -c 1500 out.txt)"
import json
f = json.load(open("out.txt"))
assert f["tau"] > 0.88 and f["groups"][0]["start_off_median_s"] < 0.001, f
END
checks=$((checks + 3))

# Jobs that give way: killed once they have run for 20 s (JobRequeue=0, PreemptExemptTime), or cancelled after a grace of 15 s. Without
# what the site says of it the replay is further off.
preempted() { # NAME, ROW OF qos.csv, WHAT TO CHANGE IN qos.csv, JOBS WITH THE SAME START
    from=$source/tests/slurm/$1
    for log in "" --log="$from/slurmctld.log.gz"; do
        # shellcheck disable=SC2086
        site_of "$1" --qos="$from/qos.txt" $log
        grep -qx "$2" "$1/qos.csv" || fail "$1: $(cat "$1/qos.csv")"
        expect 0 fidelity "$1" --json --jobs=70
        mv out.txt with_log.txt
    done
    sed "$3" "$1/qos.csv" >other.csv
    expect 0 fidelity "$1" --json --jobs=70 --set=scheduler.qos=other.csv
    python3 - "$4" <<'END' || fail "preemption, $1: $(head -c 1500 with_log.txt)"
import json, sys
log, other = (sum(abs(j["replayed_start_s"] - j["recorded_start_s"]) < 0.0011 for j in json.load(open(f))["farthest_off"]) for f in ("with_log.txt", "out.txt"))
assert log >= int(sys.argv[1]) > other, (log, other)
END
    checks=$((checks + 1))
}
preempted killed normal,0,,requeue,20,0 s/,20,/,0,/ 49
grep -qx '15,,normal,,,no' killed/jobs.csv || fail "a job that is not requeued: $(grep '^15,' killed/jobs.csv)"
preempted grace normal,0,,cancel,0,15 's/,15$/,0/' 34
for row in 'normal,0,,cancel,soon,' 'normal,0,,cancel,,-1'; do
    printf 'qos,priority,preempts,mode,exempt,grace\n%s\n' "$row" >bad_qos.csv
    expect 4 fidelity grace --set=scheduler.qos=bad_qos.csv
    says err.txt "bad_qos.csv:2: exempt, grace: expected seconds"
done
printf 'job,cpus,qos,reservation,after,requeue\n1,,normal,,,yes\n' >bad_jobs.csv
expect 4 fidelity grace --set=scheduler.jobs=bad_jobs.csv
says err.txt "bad_jobs.csv:2: requeue: expected no"
# Jobs that wait for each other, by way of others too; one that waits for a job that is not there waits for nobody.
printf 'job_id,num_gpu,submit_time,duration\na,1,0,9\nb,1,1,9\nc,1,2,9\nd,1,3,9\n' >circle.csv
printf 'job,cpus,qos,reservation,after\nd,,,,b\na,,,,c+z\nb,,,,a\nc,,,,b\n' >circle_jobs.csv
circle="--config=$source/configs/quickstart.cfg --trace=circle.csv --scheduler=slurm --set=scheduler.jobs=circle_jobs.csv"
# shellcheck disable=SC2086
expect 4 $circle
says err.txt "circle_jobs.csv: job 'c' waits for job 'b', which waits for it"
sed -i 's/^c,,,,b/c,,,,z/' circle_jobs.csv
# shellcheck disable=SC2086
expect 0 $circle
says out.txt "4 completed"

# Nodes that are out of service, or reserved, for good: who needs them is turned away, when it comes or when they go; so is who
# asks for more than its partition has on nodes of several sizes.
cat >good.cfg <<'END'
schema_version = 1;
cluster: { nodes = ( { count = 2; gpus = 8; gpu_type = "V100"; }, { count = 2; gpus = 4; gpu_type = "V100"; } ); };
run: { audit = true; patience = 5000; };
END
printf 'job_id,num_gpu,submit_time,duration,vc\na,8,0,100,\nb,16,0,100,\nc,16,0,100,\nd,16,1000,100,\ne,1,1000,50,\nf,12,0,10,p\n' >good.csv
printf 'partition,tier,factor,limit,most,first,last\np,0,0.5,,,1,1\n' >good_partitions.csv
good() {
    printf 'reservation,known,start,end,first,last\n%s\n' "$1" >good_outages.csv
    expect 0 --config=good.cfg --trace=good.csv --scheduler=slurm --set scheduler.outages=good_outages.csv \
        --set scheduler.partitions=good_partitions.csv
    says out.txt "6: $2 completed, 0 infeasible, 0 unfinished"
    says out.txt "jobs declined           $3"
}
good ",,5,6,0,0" 5 1
good ",,0,,0,0" 2 4
good ",,200,,0,0" 3 3
good "res,,200,,0,0" 2 4 # nobody starts there who might run into it
good "res,1e9,200,,0,0" 5 1

expect 0 whatif partitions --add 'V100: 1 x 8' --speed V100=1
expect 2 whatif partitions --remove 'n01: 1'
says err.txt "partitions"
expect 2 whatif partitions --target 'mean wait < 1h'
bad_partitions() {
    printf 'partition,tier,factor,limit,most,first,last\n%b\n' "$1" >bad_partitions.csv
    expect 4 fidelity partitions --set=scheduler.partitions=bad_partitions.csv
    says err.txt "$2"
}
bad_partitions 'low,1,1,,,0,6' "the cluster's 6 nodes"
bad_partitions 'low,1,1,,,3,2' "bad_partitions.csv:2: expected the first"
bad_partitions 'low,1,2,,,0,5' "a factor of 0 to 1"
bad_partitions 'low,1,1,never,,0,5' "limits in seconds"
bad_partitions 'low,1,1,60,0,0,5' "limits in seconds"
bad_partitions 'low,high,1,,,0,5' "expected a tier"
bad_partitions ',1,1,,,0,5' "no partition"
bad_partitions 'low,1,0' "expected partition,tier,factor"
expect 4 import slurm --sacct="$source/tests/slurm/partitions/sacct.txt.gz" --nodes="$source/tests/slurm/partitions/nodes.txt" \
    --partitions="$source/tests/slurm/partitions/config.txt" -o none
says err.txt "scontrol show partitions"
test ! -e none || fail "half a site"

printf 'time,scheduler\n3,main\n2,backfill\n' >fair/runs.csv
expect 4 fidelity fair
says err.txt "runs.csv:3: is earlier"
printf 'time,scheduler\n3,both\n' >fair/runs.csv
expect 4 fidelity fair
says err.txt "not 'both'"
printf 'when,what\n' >fair/runs.csv
expect 4 fidelity fair
says err.txt "time,scheduler"
printf 'nothing of the kind\n' >none.log
expect 4 import slurm --sacct="$source/tests/slurm/fair/sacct.txt.gz" --nodes="$source/tests/slurm/fair/nodes.txt" --log=none.log -o none
says err.txt "SlurmctldDebug=debug"
# A site that is there stays as it is where one of the files is none.
cp -r partitions before
for option in qos events reservations shares; do
    expect 4 import slurm --sacct="$source/tests/slurm/basic/sacct.txt.gz" --nodes="$source/tests/slurm/basic/nodes.txt" \
        --$option=none.log -o partitions
done
diff -r before partitions || fail "half a site over another"

# The accounting as JSON is the same trace, its times of UTC.
from=$source/tests/slurm/basic
expect 0 import slurm --sacct="$from/sacct.json.gz" --nodes="$from/nodes.txt" --conf="$from/config.txt" -o json
says err.txt "250 jobs of GPUs from 2026-11-22 15:33:46"
sed '1s/Z$//' json/trace.csv | cmp basic/trace.csv - || fail "the accounting as JSON"
gunzip -c "$from/sacct.json.gz" >all.json
expect 0 trace stats all.json
head -c 400000 all.json >cut.json
expect 4 import slurm --sacct=cut.json --nodes="$from/nodes.txt" -o none
says err.txt "cut.json:"
printf '{"meta": {"Slurm": {}}, "jobs": [{"job_id": 1}]}' >odd.json
expect 4 import slurm --sacct=odd.json --nodes="$from/nodes.txt" -o none
says err.txt "lacks 'time'"
printf '{"meta": {"Slurm": {}}}' >odd.json
expect 4 import slurm --sacct=odd.json --nodes="$from/nodes.txt" -o none
says err.txt "jobs"
python3 - <<'END' >odd.json
import json
def job(i, **more):
    j = {"job_id": i, "user": "ann", "account": "ml", "partition": "main", "state": {"current": ["COMPLETED"]}, "allocation_nodes": 1,
         "time": {"submission": 1000, "eligible": 1000, "start": 1010, "end": 1100, "limit": {"set": True, "infinite": False, "number": 5}},
         "tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 2}, {"type": "gres", "name": "gpu:a100", "count": 2}]}}
    j["time"].update(more)
    return j
jobs = [job(1), job(2, start=0), job(3, end=0), job(4, eligible=1005), job(5, start=990), job(6, limit={"set": False})]
jobs[0]["array"] = {"job_id": 7, "task_id": 3}
jobs.append(job(9, end=9000000000000000))
jobs.append(dict(job(8), tres={"allocated": [{"type": "cpu", "name": None, "count": 2}]}))
print(json.dumps({"meta": {"Slurm": {}}, "jobs": jobs}))
END
expect 0 import slurm --sacct=odd.json --nodes="$from/nodes.txt" -o none
for text in "4 jobs of GPUs" "never started (pending, or cancelled while it was): 1" "no end (still running, or lost): 1" "no GPU: 1" \
    "submitted when it became eligible: 1" "the clock was set back: 1" "a time that is none: 1"; do
    says err.txt "$text"
done
says none/trace.csv "7_3,2,"
says none/trace.csv "a100"
rm -r none

# What Slurm's own shares say of usage is what the policy computes: the order of users' factors at the end.
says multifactor/shares.csv "vision,games,parent"
says multifactor/cluster.cfg 'weight_fairshare = 10000'
says builtin/cluster.cfg 'backfill = false'
expect 0 fidelity builtin --least=A
says out.txt "grade      A"
expect 1 fidelity multifactor --least=A
expect 0 --config=builtin/cluster.cfg --set=scheduler.backfill=true -q

# Odd rows are left out and counted, by reason.
cat >odd.txt <<'END'
JobID|User|Account|Partition|State|Submit|Eligible|Start|End|Timelimit|NNodes|NCPUS|AllocTRES|ReqTRES
1|ann|ml|main|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:00|2026-03-01T10:00:10|2026-03-01T10:01:00|00:10:00|1|8|cpu=8,mem=32G,gres/gpu=2|
1.batch|ann|ml|main|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:00|2026-03-01T10:00:10|2026-03-01T10:01:00||1|8|cpu=8|
2|ann|ml|main|CANCELLED by 7|2026-03-01T10:00:00|2026-03-01T10:00:00|None|2026-03-01T10:01:00|1-00:00:00|1|8||gres/gpu=2
3|bob|ml|main|RUNNING|2026-03-01T10:00:00|2026-03-01T10:00:00|2026-03-01T10:00:10|Unknown|UNLIMITED|1|8|gres/gpu=2|
4|bob|ml|main|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:00:00|2026-03-01T10:00:10|2026-03-01T10:05:00|10|1|8|cpu=8|cpu=8
5_1|bob|ml|main|CANCELLED by 7|2026-03-01T10:00:00|2026-03-01T10:02:00|2026-03-01T10:02:10|2026-03-01T10:05:00|2-03:04:05|1|8|gres/gpu:a100=4|
6|bob|a|b|main|COMPLETED|2026-03-01T10:00:00|2026-03-01T10:02:00|2026-03-01T10:02:10|2026-03-01T10:05:00|3|1|8|gres/gpu=4|
7|bob|ml|main|COMPLETED|1772359200|1772359200|1772359100|1772359300|3|1|8|gres/gpu=4|
8|bob|ml|main|COMPLETED|yesterday|yesterday|2026-03-01T10:02:10|2026-03-01T10:05:00|3|1|8|gres/gpu=4|
9|bob|ml|ma
END
cat >nodes.txt <<'END'
NodeName=cpu1 Arch=x86_64 CPUTot=64 Gres=(null) State=IDLE
NodeName=g1 Arch=x86_64 CPUTot=64 Gres=gpu:a100:4(S:0-1),shard:16 State=IDLE
NodeName=g2 Arch=x86_64 CPUTot=64 Gres=gpu:a100:4(S:0-1) State=IDLE
NodeName=h1 Arch=x86_64 CPUTot=128 Gres=gpu:h100:8 State=MIXED
what is this
END
printf 'SchedulerParameters=bf_interval=7,bf_continue,defer\nPriorityMaxAge=7-0\nPriorityCalcPeriod=4\nPriorityDecayHalfLife=5:30\nPriorityType=priority/multifactor\n' >slurm.conf
printf 'NodeName=x PriorityType=priority/basic\n' >>slurm.conf
expect 0 import slurm --sacct=odd.txt --nodes=nodes.txt --conf=slurm.conf -o odd
says err.txt "3 jobs"
for text in "a step of a job: 1" "never started (pending, or cancelled while it was): 1" "no end (still running, or lost): 1" \
    "no GPU: 1" "more or fewer cells than the header" "a time that is none: 1" "submitted when it became eligible: 1" \
    "the clock was set back: 1" "bf_continue is not modelled" "defer is not modelled" "1 nodes without GPUs"; do
    says err.txt "$text"
done
says odd/cluster.cfg 'count = 2; gpus = 4; gpu_type = "a100"'
says odd/cluster.cfg 'bf_interval = "7 s"'
says odd/cluster.cfg 'max_age = "604800 s"'
says odd/cluster.cfg 'calc_period = "240 s"'
says odd/cluster.cfg 'half_life = "330 s"'
says odd/trace.csv "5_1,4,"
grep -q '^5_1,.*a100.*,killed' odd/trace.csv || fail "type and state of a job: $(cat odd/trace.csv)"
grep -q '183845' odd/trace.csv || fail "a limit of 2-03:04:05: $(cat odd/trace.csv)"
expect 0 fidelity odd

# What is not what it is said to be.
expect 2 import slurm --sacct=odd.txt -o none
expect 4 import slurm --sacct=missing.txt --nodes=nodes.txt -o none
expect 4 import slurm --sacct=nodes.txt --nodes=nodes.txt -o none
says err.txt "JobID"
expect 4 import slurm --sacct=odd.txt --nodes=odd.txt -o none
says err.txt "scontrol show nodes"
test ! -e none || fail "a site of nothing"
expect 5 import slurm --sacct=odd.txt --nodes=nodes.txt -o odd.txt/none
for row in 'ml|ann|5' 'ml||lots' 'ml||-1' 'a,b||5' '||5' 'ml||parent
ml||3'; do # what a replay would refuse
    printf 'Account|User|RawShares\nroot|||\n%s\n' "$row" >shares.txt
    expect 4 import slurm --sacct=odd.txt --nodes=nodes.txt --shares=shares.txt -o none
    says err.txt "shares.txt:"
done
sed "s/Partitions=[^ ]*/Partitions=$(printf 'p%.0s' {1..64})/" "$source/tests/slurm/partitions/nodes.txt" >long.txt
expect 4 import slurm --sacct="$source/tests/slurm/partitions/sacct.txt.gz" --nodes=long.txt -o none
says err.txt "a name of 64 bytes"
sed 's/NodeName=\([^ ]*\)/NodeName="\1-with.a.name.that.is.longer.than.that.of.a.group/' "$source/tests/slurm/partitions/nodes.txt" >long.txt
expect 0 import slurm --sacct="$source/tests/slurm/partitions/sacct.txt.gz" --nodes=long.txt -o long
expect 0 config --check long/cluster.cfg
sed 's/Gres=gpu:8/Gres=gpu:a"b:8/' "$source/tests/slurm/partitions/nodes.txt" >long.txt
expect 4 import slurm --sacct="$source/tests/slurm/partitions/sacct.txt.gz" --nodes=long.txt -o none
says err.txt "expected at most 47 bytes, no quotes"
for row in '|5' "$(printf 'q%.0s' {1..64})|5" 'a|-1' 'a|@' 'a,b|5' "a|5|$(printf 'q%.0s' {1..64})"; do
    printf 'Name|Priority|Preempt\n%s\n' "$row" >qos.txt
    expect 4 import slurm --sacct="$source/tests/slurm/partitions/sacct.txt.gz" \
        --nodes="$source/tests/slurm/partitions/nodes.txt" --qos=qos.txt -o none
    says err.txt "qos.txt:2"
done
rm -rf none
expect 3 fidelity missing
expect 4 fidelity "$source/configs/quickstart.cfg" --set=trace.path="$sample"
says err.txt "how long jobs waited"
printf 'account,user,shares\nml,ann,5\n' >bad.csv
expect 4 fidelity odd --set=scheduler.shares=bad.csv
says err.txt "bad.csv:2"
printf 'account,user,shares\nml,,lots\n' >bad.csv
expect 4 fidelity odd --set=scheduler.shares=bad.csv
says err.txt "lots"

# By hand: on record c went before b, which the replay does not do; what each waited for, and the queue.
cat >hand.cfg <<'END'
schema_version = 1;
cluster: { gpu_types = ({ name = "A"; }); nodes = ({ name = "n"; count = 1; gpus = 4; gpu_type = "A"; }); };
trace: { path = "hand.csv"; };
END
printf 'job_id,num_gpu,submit_time,duration,queue\na,4,0,100,0\nb,4,1,100,199\nc,3,2.5,100,97.5\nd,1,50,300,50\n' >hand.csv
expect 0 fidelity hand.cfg
says out.txt "waiting    1.73 jobs recorded, 2.23 replayed, off by 0.50 in the mean"
says out.txt "then 1 jobs held 4 GPUs in the replay alone, 1 of them ahead of it; the largest: b"
says out.txt "then 2 jobs held 4 GPUs on record alone, 2 of them ahead of it; the largest: c"
expect 0 fidelity hand.cfg --json
python3 - <<'END' || fail "why: $(cat out.txt)"
import json
f = json.load(open("out.txt"))
why = {j["job"]: j.get("ran_where_it_waited") for j in f["farthest_off"]}
assert why == {"a": None, "b": {"jobs": 2, "ahead": 2, "gpus": 4, "largest": "c"},
               "c": {"jobs": 1, "ahead": 1, "gpus": 4, "largest": "b"}, "d": {"jobs": 1, "ahead": 1, "gpus": 4, "largest": "b"}}, why
assert abs(f["recorded_queue"] - 346.5 / 200) < 1e-9 and abs(f["replayed_queue"] - 446.5 / 200) < 1e-9 and abs(f["queue_off"] - 0.5) < 1e-9, f
END
checks=$((checks + 1))

ln -s "$source/tests" tests
run_page "$source/docs/sites.md"
echo "$checks checks"
