#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim pollux and dlsim elasticflow: results worked by hand, and what they refuse. Usage: elastic.sh DLSIM
. "$DLSIM_SOURCE/tests/support/cli.sh"

# Without noise a batch of 20 is worth one of 10: gain 1. On one GPU a step of 10 takes 1 s, on two
# 0.6 s; the two epochs end at 100 and 200.4 steps.
mkdir -p profiles/bert
cat >profiles/bert/validation-10.csv <<'END'
progress,iteration,metric,grad_sqr,grad_var
100,100,0,1,0
200.4,200,0,1,0
END
sed 's/^100,100/110,50/; s/^200.4,200/200.5,100/' profiles/bert/validation-10.csv >profiles/bert/validation-20.csv
cat >profiles/bert/placements.csv <<'END'
placement,local_bsz,step_time,sync_time
1,5,0.5,0
1,10,1,0
2,5,0.6,0.1
2,10,1.1,0.1
11,5,2.6,2.1
11,10,3.1,2.1
END
printf 'num_nodes,num_replicas,local_bsz,step_time,sync_time\n' >profiles/bert/scalability.csv
head=name,time,application,num_replicas,batch_size
printf '%s\na,0,bert,1,10\nb,10,bert,2,10\n' $head >two.csv
# a starts at 60 and restores for 30 s; its first epoch ends at 190, its second 100.4 s later, rounded to
# 100. b shares no node with it and takes 0.6 s a step: 90 + 60, then 60.24 rounded to 60.
"$dlsim" pollux --schedule=tiresias --profiles=profiles --nodes=2 --gpus=2 two.csv -q >out || fail "tiresias"
same "whole seconds" out <<'END'
name,submit,first_start,completion,jct,restarts,gpu_seconds,epochs
a,0,60,290,290,0,230,2
b,10,60,210,200,0,300,2
END
# One node: b does not fit beside a and is passed over until a has ended.
"$dlsim" pollux --schedule=tiresias --profiles=profiles --nodes=1 --gpus=2 two.csv -q -o one.csv || fail "one node"
same "a gang waits" one.csv <<'END'
name,submit,first_start,completion,jct,restarts,gpu_seconds,epochs
a,0,60,290,290,0,230,2
b,10,300,450,440,0,300,2
END
# The search finds a GPU for each, whatever the seed: batches are tuned, so that only who ends is known.
for seed in 1 2; do
    "$dlsim" pollux --seed=$seed --profiles=profiles --nodes=2 --gpus=2 two.csv -q >out || fail "pollux"
    cut -d, -f1,8 out >ended
    same "pollux" ended <<'END'
name,epochs
a,2
b,2
END
done
refused "replaced without --force" "is there already" pollux --profiles=profiles two.csv -o one.csv
refused "too many GPUs" "asks for 2 GPUs of a cluster of 1" pollux --schedule=tiresias --profiles=profiles --nodes=1 --gpus=1 two.csv
refused "no profiles" "--profiles" pollux two.csv
refused "no such folder" "none of the applications" pollux --profiles=. two.csv
refused "schedule" "themis" pollux --schedule=themis --profiles=profiles two.csv
printf '%s,category\na,0,bert,1,10,adaptive\nb,10,bert,2,10,rigid\nc,10,bert,2,20,scale-gpus\n' $head >kinds.csv
"$dlsim" pollux --schedule=sia --profiles=profiles --nodes=2 --gpus=2 kinds.csv -q >out || fail "sia"
cut -d, -f1,8 out >ended
same "sia" ended <<'END'
name,epochs
a,2
b,2
c,2
END
# A GPU of each of two types, the second twice as fast. The gang knows that and takes the fast one: 120 s
# to restore, 1.2 x 50 s an epoch. The other learns the slow one, to 180 + 60 s; the fast one is worth 2 x
# 240 / 360 then, but taken until the round in which the gang ends. At 360 it goes there with 150 of
# 200.4 steps: 120 + 30 s.
mkdir -p fast/bert
cp profiles/bert/validation-*.csv profiles/bert/scalability.csv fast/bert
awk -F, -v OFS=, 'NR > 1 { $3 /= 2; $4 /= 2 } 1' profiles/bert/placements.csv >fast/bert/placements.csv
printf '%s,category\nr,0,bert,1,10,rigid\ns,0,bert,1,10,scale-gpus\n' $head >types.csv
"$dlsim" pollux --schedule=sia --profiles=profiles --nodes=1 --gpus=1 --type=1x1:fast types.csv -q >out || fail "types"
same "GPU types" out <<'END'
name,submit,first_start,completion,jct,restarts,gpu_seconds,epochs
r,0,60,300,300,0,240,2
s,0,60,510,510,1,450,2
END
refused "types of a schedule without" "has one GPU type" pollux --schedule=tiresias --profiles=profiles --type=1x1:fast two.csv
for type in 1x1 1x1: 0x1:fast 1x0:fast 257x1:fast x:fast; do
    refused "type $type" "expected NODESxGPUS:FOLDER" pollux --schedule=sia --profiles=profiles --type=$type two.csv
done
refused "profiles of a type" "none of the applications" pollux --schedule=sia --profiles=profiles --type=1x1:. two.csv
refused "too large a gang" "asks for 2 GPUs of a cluster of 1" pollux --schedule=sia --profiles=profiles --nodes=1 \
    --gpus=1 kinds.csv
sed 's/rigid/stiff/' kinds.csv >stiff.csv
refused "category" "expected adaptive, scale-gpus or rigid" pollux --profiles=profiles stiff.csv
bad() { # NAME TEXT ROW
    printf '%s\n%s\n' $head "$3" >bad.csv
    refused "$1" "$2" pollux --schedule=tiresias --profiles=profiles bad.csv
}
bad "application" "no profile" "a,0,gpt,1,10"
bad "batch" "validated with batches of 10 to 20" "a,0,bert,1,40"
bad "no GPUs" "replicas" "a,0,bert,0,10"
bad "unmeasured" "was not measured with 4 samples" "a,0,bert,3,10"
sed -i 's/^100,100,0,1,0/100,100,0,0,0/' profiles/bert/validation-10.csv
refused "zero gradients" "without size and without noise" pollux --profiles=profiles two.csv

# 40 iterations, 1/s on one GPU: admitted, done at 40. The second wants both GPUs until its deadline
# and still is late: declined.
mkdir -p t/throughputs_A100
printf 'global_batch_size,1,2\n64,1,1.8\n' >t/throughputs_A100/vgg16.csv
ef=job_id,num_gpu,submit_time,iteration,model_name,duration,interval,batch_size,ddl
printf '%s\na,1,0,40,vgg16,40,0,64,1000\nb,1,0,4000,vgg16,4000,0,64,1100\n' $ef >ef.csv
"$dlsim" elasticflow --throughputs=t --nodes=1 --gpus=2 ef.csv >out 2>err || fail "elasticflow: $(cat err)"
same "all newcomers are declined together" out <<'END'
job_id,status,start,end,jct
a,declined,,,
b,declined,,,
END
grep -q "declined *2" err || fail "report: $(cat err)"
"$dlsim" elasticflow --schedule=edf --throughputs=t --nodes=1 --gpus=2 ef.csv -q >out || fail "edf"
same "edf" out <<'END'
job_id,status,start,end,jct
a,done,0.000000,23.000000,23.000000
b,done,23.000000,2246.000000,2246.000000
END
refused "GPU" "the table does not have" elasticflow --throughputs=t --gpu-type=T4 ef.csv
refused "throughputs" "--throughputs" elasticflow ef.csv
refused "schedule" "themis" elasticflow --throughputs=t --schedule=themis ef.csv

# GPU time that no column can say ends the run.
printf 'schema_version = 1;\ncluster: { nodes = ({ count = 15625; gpus = 64; gpu_type = "V100"; }); };\n' >million.cfg
printf 'job_id,num_gpu,submit_time,duration,min_gpus,max_gpus\na,1000000,0,20000000,1000,1000000\n' >million.csv
expect 1 run --config=million.cfg --trace=million.csv --scheduler=edf -q
says err.txt "GPU-time of job 0 beyond"
