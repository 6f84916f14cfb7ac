# SPDX-License-Identifier: GPL-3.0-or-later
# The scheduler slurm's tables of jobs, QoS, reservations and nodes out of service, and memory: small cases whose starts are
# known by hand; rows that are refused.
. "$DLSIM_SOURCE/tests/support/cli.sh"

cat >site.cfg <<'END'
schema_version = 1;
cluster: { gpu_types = ({ name = "A"; }); nodes = ({ name = "n"; count = 2; gpus = 4; gpu_type = "A"; cpus = 32; memory = "100 GiB"; }); };
trace: { path = "trace.csv"; };
placement: { name = "first-fit"; };
scheduler: { name = "slurm"; loop = "1 s"; loop_at = 0; sched_delay = "1 s"; boot = -1; bf_interval = "5 s"; };
END
# trace ROW...: job, GPUs, submission, duration, limit, MiB
trace() { { echo "job_id,num_gpu,submit_time,duration,limit,mem_mib"; printf '%s\n' "$@"; } >trace.csv; }
# starts OPTION... -- JOB=FROM..TO ...: when jobs start, seconds
starts() {
    local set=()
    while test "$1" != --; do
        set+=("--set=scheduler.$1")
        shift
    done
    shift
    expect 0 --config=site.cfg "${set[@]}" -o run.h5 --force -q
    expect 0 export --csv run.h5 -o jobs.csv --force -q
    python3 - "$@" <<'END' || fail "starts: $(cut -d, -f1,11- jobs.csv)"
import csv, sys
at = {r["id"]: int(r["start_us"]) / 1e6 for r in csv.DictReader(open("jobs.csv"))}
for want in sys.argv[1:]:
    job, span = want.split("=")
    low, high = map(float, span.split(".."))
    assert low <= at[job] <= high, (want, at)
END
    checks=$((checks + 1))
}

# Nodes out of service: nobody starts there, who runs there goes on.
trace a,4,0,50,60, b,4,10,50,60,
printf 'reservation,known,start,end,first,last\n,,5,100,0,1\n' >outages.csv
starts outages=outages.csv -- a=0..4 b=100..107
printf 'reservation,known,start,end,first,last\n,,5,,0,0\n' >outages.csv
starts outages=outages.csv -- a=0..4 b=10..16

# A reservation that everybody knows of: who would not end before waits until it is over; jobs of it do not, and wait for it.
trace in,4,0,10,60, a,8,1,50,120, c,4,2,20,30,
printf 'reservation,known,start,end,first,last\nmaint,,60,100,0,0\n' >outages.csv
printf 'job,cpus,qos,reservation,after\nin,,,maint,\n' >jobs_in.csv
starts outages=outages.csv jobs=jobs_in.csv -- a=100..107 c=0..9 in=60..68
starts outages=outages.csv -- in=0..4 a=100..107
# One that is over when the job comes: it waits like any other.
trace in,4,150,10,60,
starts outages=outages.csv jobs=jobs_in.csv -- in=150..157
trace a,8,0,50,120,
# One that nobody knows of yet.
printf 'reservation,known,start,end,first,last\nmaint,30,60,100,0,0\n' >outages.csv
starts outages=outages.csv -- a=0..4

# Jobs that have to end before.
trace first,1,0,40,60, second,1,1,5,60, third,1,2,5,60,
printf 'job,cpus,qos,reservation,after\nsecond,,,,first\nthird,,,,first+second+gone\n' >after.csv
starts jobs=after.csv -- first=0..4 second=40..47 third=45..56

# Memory of nodes: two jobs of 60 GiB are not together on one.
trace a,1,0,50,60,61440 b,1,0,50,60,61440 c,1,0,50,60,61440
starts -- a=0..4 b=0..4 c=50..57

# A gang that does not divide evenly: the node with the larger part has processors for that, not for the mean of both.
cat >trace.csv <<'END'
job_id,num_gpu,submit_time,duration,limit,nodes,num_cpu
a,1,0,50,60,1,6
uneven,5,10,50,60,2,50
END
starts -- a=0..4 uneven=50..62

# What no node has is turned away, and blocks nobody.
cat >trace.csv <<'END'
job_id,num_gpu,submit_time,duration,limit,nodes,num_cpu
wide,4,0,50,60,1,40
a,4,1,50,60,1,32
wider,8,2,50,60,2,66
END
starts -- a=1..5 wide=-1..0 wider=-1..0

# QoS: priority, and running jobs that give way and then wait for a while.
trace low1,4,0,100,120, low2,4,0,100,120, high,4,20,30,60,
printf 'qos,priority,preempts\nlow,0,\nhigh,10,low\n' >qos.csv
printf 'job,cpus,qos,reservation,after\nlow1,,low,,\nlow2,,low,,\nhigh,,high,,\n' >jobs_qos.csv
starts qos=qos.csv jobs=jobs_qos.csv -- high=100..108
starts qos=qos.csv jobs=jobs_qos.csv preempt=true requeue_delay=60 restore_cost=0 -- low1=0..4 low2=0..4 high=20..30
python3 - <<'END' || fail "preempted: $(cat jobs.csv)"
import csv
rows = {r["id"]: r for r in csv.DictReader(open("jobs.csv"))}
gone = [r for r in rows.values() if int(r["preempts"])]
assert [r["id"] for r in gone] == ["low2"], gone
assert 20 + 60 + 80 <= int(gone[0]["end_us"]) / 1e6 < 180, gone
END
# A job of a heterogeneous one (ID+1) is no what-if's copy of another: it has no QoS of that.
trace low1,4,0,100,120, low2,4,0,100,120, high+1,4,20,30,60, high,1,900,5,60,
starts qos=qos.csv jobs=jobs_qos.csv preempt=true requeue_delay=60 restore_cost=0 -- low1=0..4 low2=0..4 high+1=100..112
# Who is cancelled ends there, what waits for it to end goes on, and nobody gives way whose mode is none.
printf 'qos,priority,preempts,mode\nlow,0,,cancel\nhigh,10,low,\n' >qos_cancel.csv
printf 'job,cpus,qos,reservation,after\nlow1,,low,,\nlow2,,low,,\nhigh,,high,,\nnext,,low,,low2\n' >jobs_next.csv
trace low1,4,0,100,120, low2,4,0,100,120, high,4,20,30,60, next,4,21,10,60,
expect 0 --config=site.cfg --set=scheduler.qos=qos_cancel.csv --set=scheduler.jobs=jobs_next.csv --set=scheduler.preempt=true --set=run.audit=true -q
starts qos=qos_cancel.csv jobs=jobs_next.csv preempt=true -- low1=0..4 low2=0..4 high=20..30 next=50..66
expect 0 --config=site.cfg --set=scheduler.qos=qos_cancel.csv --set=scheduler.jobs=jobs_next.csv --set=scheduler.preempt=true --set=checkpoint.lost_on_preemption=true -o cancelled.h5 --json -q
cp out.txt cancelled.json
expect 0 export --csv cancelled.h5 -o cancelled.csv -q
expect 0 export --swf cancelled.h5 -q
python3 - <<'END' || fail "who was cancelled, in other formats: $(cat out.txt)"
import csv, json
rows = list(csv.DictReader(open("cancelled.csv")))
swf = [line.split() for line in open("out.txt") if not line.startswith(";")]
useful = there = 0
for row, line in zip(rows, swf):
    us = {name: int(row[name]) for name in ("submit_us", "start_us", "pending_us", "executed_us", "overhead_us")}
    ran = us["submit_us"] + us["pending_us"] + us["executed_us"] + us["overhead_us"] - us["start_us"]
    useful += int(row["gpus"]) * (us["executed_us"] if row["state"] == "finished" else 0)
    there += int(row["gpus"]) * ran
    assert abs(int(line[3]) - ran / 1e6) <= 0.5 and line[10] == ("1" if row["state"] == "finished" else "5"), (row, line)
assert any(row["state"] == "declined" and int(row["start_us"]) >= 0 for row in rows)
ratio = json.load(open("cancelled.json"))["world"]["effective_training_ratio"]
assert abs(ratio - useful / there) < 1e-9, (ratio, useful / there)
END
python3 - <<'END' || fail "cancelled: $(cat jobs.csv)"
import csv
rows = {r["id"]: r for r in csv.DictReader(open("jobs.csv"))}
assert {j: r["state"] for j, r in rows.items()} == {"low1": "finished", "low2": "declined", "high": "finished", "next": "finished"}, rows
assert int(rows["low2"]["preempts"]) == 1 and 15e6 <= int(rows["low2"]["executed_us"]) <= 30e6 and int(rows["low2"]["end_us"]) < 0, rows["low2"]
END
trace low1,4,0,100,120, low2,4,0,100,120, high,4,20,30,60,
sed 's/cancel$/none/' qos_cancel.csv >qos_none.csv
starts qos=qos_none.csv jobs=jobs_qos.csv preempt=true -- low1=0..4 low2=0..4 high=100..108
# Who is requeued begins anew, unless it has saved its state meanwhile: 20 s are lost of the first, then 5 s.
lost() {
    expect 0 --config=site.cfg --set=scheduler.qos=qos.csv --set=scheduler.jobs=jobs_qos.csv --set=scheduler.preempt=true --set=scheduler.requeue_delay=60 \
        --set=scheduler.restore_cost=0 --set=checkpoint.lost_on_preemption=true --set=run.audit=true "$@" -o run.h5 --force -q
    expect 0 export --csv run.h5 -o jobs.csv --force -q
    python3 -c '
import csv
low2 = {r["id"]: r for r in csv.DictReader(open("jobs.csv"))}["low2"]
print(round((int(low2["lost_us"])) / 1e6), int(low2["failures"]), int(low2["preempts"]), round((int(low2["executed_us"])) / 1e6))'
}
at=$(lost) && read -r gone failures preempts ran <<<"$at"
test $((ran - gone)) = 100 && test "$gone" -ge 15 && test "$failures $preempts" = "0 1" || fail "requeued: $at"
least=$gone
at=$(lost --set=checkpoint.period=7s) && read -r gone failures preempts ran <<<"$at"
test "$gone" -lt 7 && test $((least - gone)) = $((least / 7 * 7)) && test $((ran - gone)) = 100 || fail "requeued with checkpoints: $at"

# A partition's longest limit: who asks for more is turned away, who asks for as much is not; the import raises it to what ran.
trace a,4,0,5,60, b,4,0,5,61, c,4,0,5,,
printf 'partition,tier,factor,limit,most,first,last\nml,1,1,,60,0,1\n' >most.csv
sed -i '1s/$/,vc/; 2,$s/$/,ml/' trace.csv
expect 0 --config=site.cfg --set=scheduler.partitions=most.csv -o run.h5 --force -q
expect 0 export --csv run.h5 -o jobs.csv --force -q
python3 -c '
import csv
state = {r["id"]: r["state"] for r in csv.DictReader(open("jobs.csv"))}
assert state["a"] == state["c"] == "finished" and state["b"] != "finished", state' || fail "a limit beyond the partition's: $(cat jobs.csv)"

trace fill,8,0,30,60, low,8,1,10,60, high,8,2,10,60,
printf 'job,cpus,qos,reservation,after\nlow,,low,,\nhigh,,high,,\n' >jobs_qos.csv
starts qos=qos.csv jobs=jobs_qos.csv -- low=30..36 high=40..47
starts qos=qos.csv jobs=jobs_qos.csv priority=multifactor weight_qos=100 -- high=30..36 low=40..47

# bad KEY HEADER ROW TEXT: a table that is refused
bad() {
    printf '%s\n%b\n' "$2" "$3" >bad.csv
    expect 4 --config=site.cfg --set="scheduler.$1=bad.csv" -q
    says err.txt "$4"
}
outages=reservation,known,start,end,first,last
bad outages $outages 'r,,5,4,0,0' "bad.csv:2: expected seconds"
bad outages $outages 'r,soon,5,6,0,0' "expected seconds"
bad outages $outages ',,5,6,0,2' "the cluster's 2 nodes"
bad outages $outages 'r,,5,6,0.5,1' "the cluster's 2 nodes"
bad partitions partition,tier,factor,limit,most,first,last 'a,1.7,1,,,0,1' "expected a tier"
bad partitions partition,tier,factor,limit,most,first,last 'a,1,1,,,0,0.5' "the cluster's 2 nodes"
bad cpu_jobs submit,duration,limit,nodes,cpus,mem_mib,user,account,partition '0,9,,1.5,1,,,,' "numbers of nodes"
bad qos qos,priority,preempts ',1,' "no name"
bad qos qos,priority,preempts 'a,much,' "a priority"
bad qos qos,priority,preempts,mode 'a,1,,suspend' "expected requeue, cancel or none, not 'suspend'"
bad qos qos,priority,preempts 'a,1' "expected qos,priority,preempts[,mode,exempt,grace]"
bad qos qos,priority,preempts,m 'a,1,,' "expected the header qos,priority,preempts[,mode,exempt,grace]"
bad jobs job,cpus,qos,reservation,after 'low,many,,,' "processors"
bad jobs job,cpus,qos,reservation,after 'low,,,,\nlow,,,,' "bad.csv:3: job 'low' stands there twice"
bad jobs job,qos 'low,' "expected the header"
bad jobs job,cpus,qos,reservation,after '"low,,,,' "bad.csv:2: expected job,cpus"
bad jobs job,cpus,qos,reservation,after '"low"er,,,,' "bad.csv:2: expected job,cpus"
bad jobs job,cpus,qos,reservation,after 'low,,,,\0000,2\nhigh,,,,' "bad.csv:2:8: a NUL byte"
: >bad.csv
for key in jobs qos partitions outages; do
    expect 4 --config=site.cfg --set="scheduler.$key=bad.csv" -q
    says err.txt "bad.csv: is empty: expected the header"
done

# sacctmgr's and scontrol's texts that are something else; dependencies of all kinds.
printf 'NodeName=n1 CPUTot=32 Gres=gpu:4 RealMemory=1000 State=IDLE Partitions=main\nNodeName=n2 CPUTot=32 Gres=gpu:4 RealMemory=1000 State=IDLE Partitions=main\n' >nodes.txt
python3 - <<'END'
head = "JobID|User|Partition|JobName|QOS|Reservation|State|Submit|Start|End|Timelimit|NNodes|NCPUS|ReqTRES|AllocTRES|SubmitLine"
lines = ["", "--dependency=afterany:1:3", "-d afterok:2", "--dependency=after:1", "--dependency=afterok:1?afterok:2", "-d singleton", "--dependency singleton,afternotok:3"]
with open("sacct.txt", "w") as f:
    print(head, file=f)
    for i, line in enumerate(lines, 1):
        print(f"{i}|ann|main|train|normal|{'maint' if i == 2 else ''}|COMPLETED|{1000+i}|{1010+i}|{1020+i}|5|1|8|cpu=8,gres/gpu=1|cpu=8,gres/gpu=1|sbatch {line} job.sh", file=f)
END
import() { expect "$1" import slurm --sacct=sacct.txt --nodes=nodes.txt "${@:2}" -o site; }
import 0
says err.txt "waited for others to end (SubmitLine): 4"
says err.txt "dependencies that are not modelled: 2"
printf 'job,cpus,qos,reservation,after,requeue\n2,,normal,maint,1+3,\n3,,normal,,2,\n6,,normal,,5,\n7,,normal,,6+3,\n' | diff - site/jobs.csv || fail "dependencies"
# A dependency on an array is one on all its tasks; aftercorr, one on the same task.
python3 - <<'END'
head = "JobID|User|Partition|JobName|State|Submit|Start|End|Timelimit|NNodes|NCPUS|ReqTRES|AllocTRES|SubmitLine"
rows = [("9_1", "", 40), ("9_2", "", 90), ("91", "", 500), ("92_1", "", 500), ("10", "-d afterok:9", 5), ("11_1", "-d aftercorr:9", 5), ("11_2", "-d aftercorr:9", 5),
        ("12_1", "--dependency=aftercorr:9_2", 5), ("13", "-d afterany:92:10", 5)]
with open("array.txt", "w") as f:
    print(head, file=f)
    for i, (id, line, run) in enumerate(rows):
        print(f"{id}|ann{i}|main|t|COMPLETED|1000|1010|{1010+run}|60|1|1|cpu=1,gres/gpu=1|cpu=1,gres/gpu=1|sbatch {line} job.sh", file=f)
END
expect 0 import slurm --sacct=array.txt --nodes=nodes.txt -o array
printf 'job,cpus,qos,reservation,after,requeue\n10,,,,9,\n11_1,,,,9_1,\n11_2,,,,9_2,\n12_1,,,,9_2,\n13,,,,92+10,\n' | diff - array/jobs.csv || fail "dependencies on arrays"
expect 0 --config=array/cluster.cfg --set 'cluster.nodes[0].gpus=16' -o array.h5
"$dlsim" export --csv array.h5 >array.csv
python3 - <<'END' || fail "jobs that wait for arrays: $(cut -d, -f1-3,10-14 array.csv)"
import csv
rows = {r["id"]: r for r in csv.DictReader(open("array.csv"))}
start, end = ({id: int(r[f"{which}_us"]) for id, r in rows.items()} for which in ("start", "end"))
assert start["10"] >= max(end["9_1"], end["9_2"]) and start["10"] < end["91"], start
assert end["9_1"] <= start["11_1"] < end["9_2"] <= start["11_2"], start
assert start["12_1"] >= end["9_2"] and start["13"] >= max(end["92_1"], end["10"]), start
END
checks=$((checks + 2))
# JobRequeue=0: who may give way is killed but where sbatch said --requeue; PreemptExemptTime of a QoS is before that of all.
sed 's/sbatch -d singleton/sbatch --requeue/; s/sbatch  job/sbatch --no-requeue job/' sacct.txt >again.txt
printf 'Name|Priority|GraceTime|Preempt|PreemptExemptTime\nnormal|0|00:01:00||\nhigh|1|00:00:00|normal|1-00:00:00\n' >qos.txt
printf 'PreemptType=preempt/qos\nPreemptMode=REQUEUE\nJobRequeue=0\nPreemptExemptTime=00:02:00\n' >slurm.conf
expect 0 import slurm --sacct=again.txt --nodes=nodes.txt --conf=slurm.conf --qos=qos.txt -o site
test "$(cut -d, -f6 site/jobs.csv | tr '\n' ' ')" = "requeue no no no no no  no " || fail "requeue: $(cat site/jobs.csv)"
printf 'qos,priority,preempts,mode,exempt,grace\nnormal,0,,requeue,120,60\nhigh,1,normal,requeue,86400,0\n' | diff - site/qos.csv || fail "spans of QoS"
sed -i /JobRequeue/d slurm.conf
expect 0 import slurm --sacct=again.txt --nodes=nodes.txt --conf=slurm.conf --qos=qos.txt -o site
test "$(cut -d, -f6 site/jobs.csv | tr '\n' ' ')" = "requeue no       " || fail "no requeue: $(cat site/jobs.csv)"
printf 'ReservationName=maint StartTime=1970-01-01T00:17:00 EndTime=1970-01-01T00:18:00 Nodes=n[1-2],x9 Flags=MAINT\n' >reservations.txt
printf 'Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\nc||1970-01-01T00:00:00|Unknown||Registered|\nc|n2|1970-01-01T00:16:51|Unknown|DOWN|x|r\n' >events.txt
import 0 --reservations=reservations.txt --events=events.txt
printf 'reservation,known,start,end,first,last\n,,10,,1,1\nmaint,,19,79,0,0\nmaint,,19,79,1,1\n' | diff - site/outages.csv || fail "outages"
import 4 --reservations=nodes.txt
says err.txt "scontrol show reservations"
printf 'PartitionName=main DefaultTime=00:02:00 MaxTime=%s PriorityTier=1\n' 00:04:00 >parts.txt
sed -i 's/Partitions=main$/Partitions=main,second/' nodes.txt
import 0 --partitions=parts.txt
says err.txt "longer limit than MaxTime of their partition, which is raised to it: 7"
says site/partitions.csv "main,1,1,120,300,0,1"
import 4 --events=nodes.txt
import 4 --qos=events.txt
says err.txt "Name"
printf 'NodeName|TimeStart|TimeEnd\nn1|yesterday|Unknown\n' >events.txt
import 4 --events=events.txt
says err.txt "a date"
printf 'PreemptType=preempt/qos\nPreemptMode=SUSPEND,GANG\nSelectTypeParameters=CR_Core_Memory\n' >slurm.conf
import 0 --conf=slurm.conf
says err.txt "PreemptType=preempt/qos is not modelled without PreemptMode=REQUEUE or CANCEL and --qos"
says err.txt "PreemptMode=SUSPEND is not modelled"
says err.txt "PreemptMode=GANG is not modelled"
says site/cluster.cfg 'memory = "1000 MiB"'
# What is no slurm.conf is not taken for Slurm's defaults.
mv site named
gzip -c slurm.conf >conf.gz
import 0 --conf=conf.gz
cmp named/cluster.cfg site/cluster.cfg || fail "a slurm.conf in gzip is another"
rm -r site
: >empty.txt
printf '\n# PreemptMode=OFF\nSelectTypeParametersX=1\nSchedulerType\n' >other.txt
for file in empty.txt:1:1 sacct.txt:1:1 nodes.txt:1:1 other.txt:2:1; do
    import 4 --conf="${file%%:*}"
    says err.txt "$file: from here on no line is a setting of slurm.conf"
    test ! -e site || fail "a site by $file"
done
# The mode of a QoS is its own, else the cluster's.
printf 'Name|Priority|Preempt|PreemptMode\nlow|0||cluster\nback|0||requeue\nlong|1||suspend\nnormal|9|low,back,long|\n' >qos.txt
printf 'PreemptType=preempt/qos\nPreemptMode=CANCEL # not REQUEUE\n' >slurm.conf
import 0 --conf=slurm.conf --qos=qos.txt
printf 'qos,priority,preempts,mode,exempt,grace\nlow,0,,cancel,0,0\nback,0,,requeue,0,0\nlong,1,,none,0,0\nnormal,9,low+back+long,cancel,0,0\n' | diff - site/qos.csv || fail "modes of QoS"
says site/cluster.cfg "preempt = true;"
says err.txt "QoS long: PreemptMode=SUSPEND is not modelled: its jobs do not give way"
! grep -q "PreemptType\|PreemptMode=CANCEL" err.txt || fail "named as not modelled: $(cat err.txt)"
sed -i 's/=CANCEL.*/=OFF/' slurm.conf
import 0 --conf=slurm.conf --qos=qos.txt
says err.txt "PreemptType=preempt/qos is not modelled without PreemptMode=REQUEUE or CANCEL"
! grep -q "preempt = true" site/cluster.cfg || fail "PreemptMode=OFF preempts"
echo "$checks checks"
