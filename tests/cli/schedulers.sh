#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What schedulers in rounds make of input that does not fit them: jobs that no GPU type or quota has room for,
# models and batches that a table of speeds has not, deadlines that nobody can keep, ranges that contradict
# themselves. Nothing is left unscheduled in silence. And batches that grow under shockwave.
. "$DLSIM_SOURCE/tests/support/cli.sh"

# count NAME: a number of the summary of run.h5
count() {
    "$dlsim" inspect run.h5 --json >run.json
    python3 -c 'import json, sys
def find(x):
    if isinstance(x, dict):
        if sys.argv[1] in x:
            return x[sys.argv[1]]
        x = list(x.values())
    for y in x if isinstance(x, list) else []:
        found = find(y)
        if found is not None:
            return found
print(find(json.load(open("run.json"))))' "$1"
}

cat >base.cfg <<'END'
schema_version = 1;
cluster: { nodes = ( { count = 1; gpus = 4; gpu_type = "V100"; }, { count = 1; gpus = 4; gpu_type = "K80"; } ); };
trace: { path = "jobs.csv"; };
scheduler: { name = "sia"; restore_cost = "0 s"; };
placement: { name = "consolidated"; };
perf: { model = "trace"; elastic = "speeds.csv"; };
run: { audit = true; };
END
cat >jobs.csv <<'END'
job_id,num_gpu,submit_time,duration,model_name,batch_size,min_gpus,max_gpus,deadline
0,1,0,1000,m,32,1,2,5000
1,1,100,600,unknown,32,1,1,
2,2,200,800,m,7,1,4,100
3,4,200,800,m,32,1,4,3000
END
printf 'model,gpus,speed,batch\nm,1,10,32\nm,2,18,32\nm,4,30,32\n' >speeds.csv

# A model and a batch that the table has not; the deadline of job 2 is over when it comes.
for scheduler in sia pollux optimus edf gavel-cost gavel-las shockwave; do
    expect 0 --config=base.cfg --scheduler=$scheduler -o run.h5 --force
    says out.txt "4 completed, 0 infeasible, 0 unfinished"
    says out.txt "not in perf.elastic     1 jobs by model, run as their gang; 1 by batch, as the nearest"
    test "$(count unprofiled_jobs)/$(count other_batch_jobs)" = 1/1 || fail "$scheduler: not in the results"
done
expect 0 --config=base.cfg --scheduler=elasticflow -o run.h5 --force
says out.txt "jobs declined           1"
# Deadlines that cannot all be kept bind nobody, and that is told.
expect 0 --config=base.cfg --scheduler=gavel-cost -o run.h5 --force
test "$(count policy_fallbacks)" -ge 1 || fail "gavel-cost: no fallback"
says out.txt "scheduler's fallback"
sed 's/,100$/,90000/' jobs.csv >kept.csv
expect 0 --config=base.cfg --trace=kept.csv --scheduler=gavel-cost -o run.h5 --force
test "$(count policy_fallbacks)" -eq 0 || fail "gavel-cost: a fallback though all deadlines can be kept"

# Ranges.
sed 's/^3,4,200,800,m,32,1,4/3,4,200,800,m,32,4,2/' jobs.csv >range.csv
expect 4 --config=base.cfg --trace=range.csv
says err.txt "range.csv:5: 4 GPUs are not within the 4 to 2"
sed 's/^3,4,200,800,m,32,1,4/3,4,200,800,m,32,1,2/' jobs.csv >range.csv
expect 4 --config=base.cfg --trace=range.csv
says err.txt "range.csv:5: 4 GPUs are not within the 1 to 2"

# Larger than its quota and the cluster, of a type that is not there, than what the quotas leave: four
# can never run and are counted, under every scheduler that can have quotas at all.
sed 's/elastic = "speeds.csv";//; s/); };/); virtual_clusters = ( { name = "a"; gpu_type = "V100"; gpus = 2; },\
 { name = "b"; gpu_type = "V100"; gpus = 2; }, { name = "c"; gpu_type = "K80"; gpus = 2; } ); };/' base.cfg >quotas.cfg
cat >quotas.csv <<'END'
job_id,num_gpu,submit_time,duration,model_name,batch_size,vc,gpu_type,deadline
0,1,0,1000,m,32,a,,5000
1,9,100,600,m,32,a,,700
2,2,200,800,m,32,b,H100,100
3,4,200,800,m,32,b,V100,3000
4,3,300,500,m,32,c,K80,9000
5,2,400,500,m,32,none,K80,9000
END
for scheduler in $("$dlsim" list schedulers | awk '/^[a-z]/ && $1 != "multi-dlas-gpu" { print $1 }'); do
    expect 0 --config=quotas.cfg --trace=quotas.csv --scheduler="$scheduler"
    says out.txt "2 completed, 4 infeasible, 0 unfinished"
    says err.txt "left out: GPU types that are not there (1, the first is 2 of 2 GPUs); more GPUs than there are of a type (1, the first is 1 of 9 GPUs); \
more GPUs than quotas, services and spare nodes leave (2, the first is 3 of 4 GPUs)"
done
# Elastic jobs with room for their least size, but for their gang on no type, by number (0) and by the nodes' CPUs (2):
# under who does not resize they can never run. Who does, gives job 2 the two GPUs that it can have, and asks for no more.
sed 's/elastic = "speeds.csv";//; s/gpu_type = "[VK]/cpus = 4; &/g' base.cfg >rigid.cfg
cat >gang.csv <<'END'
job_id,num_gpu,submit_time,duration,model_name,batch_size,min_gpus,max_gpus,num_cpu
0,6,0,100,m,32,1,6,6
1,1,10,100,m,32,1,1,1
2,4,20,100,m,32,1,4,8
END
for scheduler in $("$dlsim" list schedulers | awk '/^[a-z]/ && $1 != "multi-dlas-gpu" { print $1 }'); do
    expect 0 --config=rigid.cfg --trace=gang.csv --scheduler="$scheduler" --set run.patience=1000
    case $scheduler in
    edf | elasticflow | optimus | pollux | sia) says out.txt "3: 3 completed, 0 infeasible, 0 unfinished" ;;
    *)
        says out.txt "3: 1 completed, 2 infeasible, 0 unfinished"
        says err.txt "of a type (1, the first is 0 of 6 GPUs); more processors than nodes have (1, the first is 2 of 4 GPUs)"
        ;;
    esac
done
# A node is gone for good, and the other has memory for one GPU of its two: who resizes gives each job one; who does
# not says what was refused, and runs job 1 when the node has come back.
cat >half.cfg <<'END'
schema_version = 1;
cluster: { nodes = ( { count = 2; gpus = 2; gpu_type = "V100"; memory = "16 GiB"; } ); };
failures: { trace = "half.txt"; };
placement: { name = "first-fit"; };
run: { patience = 1000; audit = true; };
END
cat >half.csv <<'END'
job_id,num_gpu,submit_time,duration,model_name,batch_size,min_gpus,max_gpus,mem_mib
0,1,10,100,m,32,1,4,16384
1,2,20,9000,m,32,1,4,32768
END
for scheduler in edf elasticflow optimus pollux sia kueue; do
    printf 'time_s,node,event,part\n5,1,fail,\n' >half.txt
    if [ $scheduler = kueue ]; then
        expect 1 --config=half.cfg --trace=half.csv --scheduler=$scheduler
        says err.txt "the last of job 1 on 2 GPUs with 2 free"
    else
        expect 0 --config=half.cfg --trace=half.csv --scheduler=$scheduler
        says out.txt "2 completed, 0 infeasible, 0 unfinished"
    fi
    printf '5000,1,repair,\n' >>half.txt
    expect 0 --config=half.cfg --trace=half.csv --scheduler=$scheduler -o run.h5 --force
    says out.txt "2 completed, 0 infeasible, 0 unfinished"
done

# A job that was promised two GPUs for its deadline loses one with its node: what is left has memory for one.
cat >promised.csv <<'END'
job_id,num_gpu,submit_time,duration,model_name,batch_size,min_gpus,max_gpus,mem_mib,deadline
0,2,10,1000,m,32,1,2,32768,1200
END
printf 'time_s,node,event,part\n500,1,fail,\n' >half.txt
expect 0 --config=half.cfg --trace=promised.csv --scheduler=elasticflow --watchdog=60
says out.txt "1 completed, 0 infeasible, 0 unfinished"

# Orders wait, and the run says so.
printf 'time_s,node,event,part\n5,1,fail,\n' >half.txt
expect 0 --config=half.cfg --trace=half.csv --scheduler=fifo
says err.txt "1 of 2 jobs still wait when nothing is left to happen; the first is 1 of 2 GPUs, with 2 of 4 free"
expect 3 --config=quotas.cfg --trace=quotas.csv --scheduler=multi-dlas-gpu
expect 3 --config=quotas.cfg --trace=quotas.csv --scheduler=fair-share --set 'scheduler.quotas="a:2,b"'
says err.txt 'expected NAME:GPUS, found "b"'

# Tables that schedulers' options name may be compressed, as others may; of data that are cut short nothing is used.
printf '\357\273\277name,parent,gpus,limit,weight,priority\r\na,,2,,,\nb,,2,,,\nc,,2,,,' >queues.csv
gzip -k queues.csv
head -c 40 queues.csv.gz >cut.csv.gz
for table in queues.csv queues.csv.gz; do
    expect 0 --config=quotas.cfg --trace=quotas.csv --scheduler=fair-share --set scheduler.queues=$table
    grep -E "^(jobs|job completion|makespan|preemptions)" out.txt >$table.txt
done
cmp queues.csv.txt queues.csv.gz.txt || fail "a compressed table of queues is another"
expect 4 --config=quotas.cfg --trace=quotas.csv --scheduler=fair-share --set scheduler.queues=cut.csv.gz
says err.txt "cut.csv.gz: the gzip data end too early"
expect 4 --config=quotas.cfg --trace=quotas.csv --scheduler=fair-share --set scheduler.queues=none.csv
says err.txt "none.csv: cannot be opened"

# Jobs larger than their queue could ever have, with all that is lent and within the limits above it: declined.
printf 'name,parent,gpus,borrow,lend\nq1,top,2,1,\nq2,top,2,,\ntop,,0,,\n' >cohorts.csv
printf 'name,parent,gpus,limit,weight,priority\nq1,top,2,,,\nq2,top,2,4,,\ntop,,4,3,,\n' >limits.csv
cat >large.csv <<'END'
job_id,num_gpu,submit_time,duration,vc
a,4,0,100,q1
b,3,0,100,q1
c,4,0,100,q2
d,3,0,100,q2
e,4,0,100,none
END
expect 0 --config=rigid.cfg --trace=large.csv --scheduler=kueue --set scheduler.cohorts=cohorts.csv --set run.patience=1000
says out.txt "5: 4 completed, 0 infeasible, 0 unfinished"
says out.txt "jobs declined           1"
expect 0 --config=rigid.cfg --trace=large.csv --scheduler=fair-share --set scheduler.queues=limits.csv --set run.patience=1000
says out.txt "5: 3 completed, 0 infeasible, 0 unfinished"
says out.txt "jobs declined           2"

# 600 jobs of five kinds at once, and the very least cost is asked for: sia's programme stops before it has that, the
# round is counted, and with the gap that is the default none is.
cat >crowd.cfg <<'END'
schema_version = 1;
cluster: { nodes = ( { count = 16; gpus = 8; gpu_type = "V100"; }, { count = 8; gpus = 8; gpu_type = "K80"; },
    { count = 8; gpus = 8; gpu_type = "P100"; } ); };
perf: { model = "trace"; elastic = "crowd_speeds.csv"; };
run: { audit = true; };
END
awk 'BEGIN { print "job_id,num_gpu,submit_time,duration,model_name,batch_size,min_gpus,max_gpus"
    for (i = 0; i < 600; i++) printf "%d,1,0,%d,m%d,32,1,64\n", i, 30000 + 7 * i, i % 5 }' >crowd.csv
awk 'BEGIN { print "model,gpus,speed,batch"
    for (k = 0; k < 5; k++) for (g = 1; g <= 64; g *= 2) printf "m%d,%d,%.3f,32\n", k, g, 10 * g ^ (0.3 + 0.1 * k) }' >crowd_speeds.csv
for case in 0:1 1e-4:0; do
    expect 0 --config=crowd.cfg --trace=crowd.csv --scheduler=sia --set scheduler.interval=60 --set scheduler.gap="${case%:*}" \
        --until=600 -o run.h5 --force
    n=$(count policy_fallbacks)
    test "$((n > 0))" -eq "${case#*:}" || fail "gap ${case%:*}: $n rounds of a programme that stopped early"
done

# A job of 10,000 s on one GPU: 1.6 times as fast from 30 % of its work on, with 4 times its batch; 8 times
# the batch is no faster. Doubled at every fifth: 2,000 s, then at 1.4, then at 1.6.
cat >grows.csv <<'END'
job_id,num_gpu,submit_time,duration,model_name,batch_size
0,1,0,10000,m,32
END
printf 'model,gpus,speed,batch\nm,1,10,32\nm,1,14,64\nm,1,16,128\nm,1,16,256\n' >speeds.csv
for case in static:10000 accordion:7375 gns:7178.57; do
    expect 0 --config=base.cfg --trace=grows.csv --scheduler=shockwave --set scheduler.batches="${case%:*}" \
        --set scheduler.interval="10 s" -o run.h5 --force
    jct=$(count jct_mean_s)
    awk -v a="$jct" -v b="${case#*:}" 'BEGIN { exit !(a >= b - 0.01 && a <= b + 10) }' || fail "$case: $jct"
done
expect 3 --config=base.cfg --trace=grows.csv --scheduler=shockwave --set scheduler.batches=often
echo "$checks checks"
