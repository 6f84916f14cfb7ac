#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim lucid: runs worked by hand, and what it refuses. Usage: lucid.sh DLSIM
. "$DLSIM_SOURCE/tests/support/cli.sh"

header=job_id,vc,gpu_num,submit,duration,model,dataset,batchsize,amp,gmem,sharescore,pred_lucid,pred_qssf

# expect_ends NAME "job start end ..." OPTION...
expect_ends() {
    local name=$1 want=$2
    shift 2
    "$dlsim" lucid -q "$@" >out 2>err || fail "$name: $(cat err)"
    local got
    got=$(awk -F, 'NR > 1 { printf("%s%s %s %s", (NR > 2 ? " " : ""), $1, $2, $3) }' out)
    [ "$got" = "$want" ] || fail "$name: $got, not $want"
    checks=$((checks + 1))
}

# One node. c is predicted to be short; b is shorter in truth.
cat >jobs.csv <<END
$header
a,v,8,0,100,A,d,1,0,1000,0,100,100
b,v,8,10,50,B,d,1,0,1000,0,60,60
c,v,8,20,70,C,d,1,0,1000,0,40,40
END
expect_ends fifo "a 0 100 b 100 150 c 150 220" --schedule=fifo --vcs=v:1 jobs.csv
expect_ends sjf "a 0 100 b 100 150 c 150 220" --schedule=sjf --vcs=v:1 jobs.csv
expect_ends qssf "a 0 100 b 170 220 c 100 170" --schedule=qssf --vcs=v:1 jobs.csv
# An end is seen a tick late. b preempts a at 10 (90 + 40 s left), c runs next, then a.
expect_ends srtf "a 0 263 b 10 61 c 61 132" --schedule=srtf --vcs=v:1 jobs.csv

# Shared: b joins a at 10: a has 90 s left at 0.9, b 50 s at 0.5: a ends at 10 + 100 + 1; b's speed stays 0.5 after it.
cat >pairs.csv <<END
model1,dataset1,batchsize1,amp1,speed1,model2,dataset2,batchsize2,amp2,speed2
A,d,1,0,0.9,B,d,1,0,0.5
X,d,1,0,0.9,B,d,1,0,0.5
END
head -3 jobs.csv | sed 's/^b,v,8,10,50/b,v,8,10,60/' >two.csv
expect_ends shared "a 0 111 b 10 131" --vcs=v:1 --pairs=pairs.csv two.csv
"$dlsim" lucid --vcs=v:1 --pairs=pairs.csv two.csv -o counted.csv 2>err || fail "counted: $(cat err)"
grep -q '^pairs left out 1, of workloads that no job has' err || fail "counted: $(cat err)"
# b goes first: a is at full speed again. 10 + 20 / 0.5 + 1 = 51; a has then done 10 + 41 x 0.9 = 46.9 (the tick in which the
# end is seen still counts), 53.1 left.
sed 's/^b,v,8,10,60/b,v,8,10,20/' two.csv >short.csv
expect_ends restored "a 0 106 b 10 51" --vcs=v:1 --pairs=pairs.csv short.csv
# Memory, scores and much longer partners are respected.
sed 's/1000,0,60/24000,0,60/' two.csv >memory.csv
expect_ends memory "a 0 101 b 101 162" --vcs=v:1 --pairs=pairs.csv memory.csv
sed 's/1000,0,/1000,2,/' two.csv >score.csv
expect_ends score "a 0 101 b 101 162" --vcs=v:1 --pairs=pairs.csv score.csv
sed 's/0,60,60/0,201,60/' two.csv >patience.csv
expect_ends patience "a 0 101 b 101 162" --vcs=v:1 --pairs=pairs.csv patience.csv
# Two arrivals in 10 minutes are too few to share.
printf 'time,pred_gpu_job,pred_gpu_num\n600,2,1\n1200,2,1\n' >quiet.csv
expect_ends quiet "a 0 101 b 101 162" --vcs=v:1 --pairs=pairs.csv --forecast=quiet.csv two.csv
# The profiler: a runs there for 50 s and then from the beginning, b to its end.
sed 's/^b,v,8,10,60/b,v,8,10,20/' two.csv >profiled.csv
expect_ends profiler "a 0 101 b 50 70" --vcs=v:2 --profiler=v:1 --profile=50 --pairs=pairs.csv profiled.csv
grep -q '^b,50,70,40,0,1,1,' out || fail "profiler: $(cat out)"

# 14 jobs of a node each, of 30 s, a second apart, and a profiler of one node. At 20 s 13 wait, more than 10: a second node, which the
# next job gets a second later. It is idle at 300: if few GPUs are expected it goes, and k1 waits for k0.
{
    echo "$header"
    for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13; do echo "j$i,v,8,$i,30,A,d,1,0,1000,2,100,100"; done
    for i in 0 1; do echo "k$i,v,8,450,30,A,d,1,0,1000,2,100,100"; done
} >many.csv
printf 'time,pred_gpu_job,pred_gpu_num\n60000,9,41\n' >busy.csv
"$dlsim" lucid -q --vcs=v:2 --profiler=v:1 --profile=100 --forecast=busy.csv many.csv >out 2>err || fail "elastic: $(cat err)"
[ "$(grep -c ',9999,' out)" = 8 ] || fail "elastic: $(cat out)"
grep -q '^j1,21,51,20,0,1,1,,1,9999,' out || fail "elastic: $(grep '^j1,' out)"
grep -q '^k1,450,480,0,0,1,1,,1,9999,' out || fail "elastic: $(grep '^k1,' out)"
sed 's/,41$/,40/' busy.csv >calm.csv
"$dlsim" lucid -q --vcs=v:2 --profiler=v:1 --profile=100 --forecast=calm.csv many.csv >out 2>err || fail "elastic: $(cat err)"
grep -q '^k1,480,510,30,0,1,1,,1,0,' out || fail "given back: $(grep '^k1,' out)"
"$dlsim" lucid -q --vcs=v:2 --profiler=v:1 --profile=100 many.csv >out 2>err || fail "not elastic: $(cat err)"
grep -q ',9999,' out && fail "borrowed without a forecast"
checks=$((checks + 2))

# refused NAME TEXT OPTION...
refused() {
    local name=$1 text=$2
    shift 2
    "$dlsim" lucid -q "$@" >out 2>err && fail "$name: accepted"
    grep -qF -- "$text" err || fail "$name: '$text' not in: $(cat err)"
    checks=$((checks + 1))
}
refused "a pair that is missing" "has no B,d,1,0 beside A,d,1,0" --vcs=v:1 two.csv
refused "no such cluster" "how many nodes has virtual cluster 'v'" --vcs=w:1 two.csv
sed 's/^b,v,8/b,v,9/' two.csv >wide.csv
refused "never fits" "job b of 9 GPUs can never run on the 1 nodes" --schedule=fifo --vcs=v:1 wide.csv
sed 's/^b,v,8,10,60/b,v,8,10,0/' two.csv >zero.csv
refused "no length" "at least 1" --vcs=v:1 zero.csv
sed 's/^b,v,8,10,/b,v,8,10.5,/' two.csv >half.csv
refused "half a second" "whole seconds" --vcs=v:1 half.csv
printf 'model1,dataset1,batchsize1,amp1,speed1,model2,dataset2,batchsize2,amp2,speed2\nA,d,1,0,0,B,d,1,0,1\n' >still.csv
refused "a speed of 0" "a speed above 0" --vcs=v:1 --pairs=still.csv two.csv
refused "virtual clusters" "NAME:NODES" --vcs=v two.csv
refused "profiler of all nodes" "fewer nodes than it has" --vcs=v:1 --profiler=v:1 two.csv
refused "no clusters" "--vcs" two.csv
echo "$checks checks"
