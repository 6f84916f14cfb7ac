#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim muri: results worked by hand, and what it refuses. Usage: muri.sh DLSIM
. "$DLSIM_SOURCE/tests/support/cli.sh"

# wrong NAME TEXT ROW: a trace of this row is an error that says so
wrong() { printf '%s\n%s\n' "$header" "$3" >bad.csv; refused "$1" "$2" muri bad.csv; }
header=job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time,resource_time_0,resource_time_1,resource_time_2,priority

# One GPU. b prepares data while a ... in the better order a cycle takes 1 s, times 1.33 / 1.015 for two.
cat >pair.csv <<END
$header
a,1,0,10,reader,8,10000,0,1000,800,100,100,0
b,1,0,10,counter,8,10000,0,1000,100,800,100,0
END
"$dlsim" muri --nodes=1 --gpus=1 --schedule=muri-s pair.csv -q >out || fail "muri-s"
same "a pair shares a GPU" out <<END
job_id,num_gpu,submit,start,end,executed,pending
a,1,0.000000,0.000000,13.103448,13.103448,0.000000
b,1,0.000000,0.000000,13.103448,13.103448,0.000000
END
"$dlsim" muri --nodes=1 --gpus=1 --schedule=srtf pair.csv -q >out || fail "srtf"
same "one after the other" out <<END
job_id,num_gpu,submit,start,end,executed,pending
a,1,0.000000,0.000000,10.150000,10.150000,0.000000
b,1,0.000000,10.150000,20.300000,10.150000,10.150000
END
"$dlsim" muri --nodes=1 --gpus=1 --group_max=1 pair.csv -q >alone || fail "muri-s, group_max=1"
cmp alone out || fail "nobody shares in groups of one"
"$dlsim" muri --nodes=1 --gpus=1 --schedule=muri-l-in-order pair.csv -q >out || fail "muri-l-in-order"
"$dlsim" muri --nodes=1 --gpus=1 --schedule=muri-l pair.csv -q >matched || fail "muri-l"
cmp matched out || fail "two jobs are a pair with a matching and without"

# b comes and goes: a pays its 10 s of start-up in both intervals, not in the last, and runs on all the time.
cat >quirk.csv <<END
$header
a,1,0,100,reader,8,100000,0,1000,800,100,100,0
b,1,50000,10,counter,8,10000,0,1000,100,800,100,0
END
"$dlsim" muri --nodes=1 --gpus=2 --schedule=srsf quirk.csv -q -o quirk.out.csv || fail "srsf"
same "start-up in every interval" quirk.out.csv <<END
job_id,num_gpu,submit,start,end,executed,pending
b,1,50.000000,50.000000,60.150000,10.150000,0.000000
a,1,0.000000,0.000000,121.500000,121.500000,0.000000
END
"$dlsim" muri quirk.csv -q -o quirk.out.csv 2>err && fail "replaced without --force"

# antman: an iteration of the opportunistic b takes two of a's, 2.03 s: 0.15 s of the 10.15 s are left of the
# start-up, 10 - 0.15 / 2.03 iterations when a has ended.
sed 's/,0$/,1/' pair.csv | sed 's/^\(a,.*\),1$/\1,0/' >beside.csv
"$dlsim" muri --nodes=1 --gpus=1 --schedule=antman beside.csv -q >out || fail "antman"
same "an opportunistic job runs beside" out <<END
job_id,num_gpu,submit,start,end,executed,pending
a,1,0.000000,0.000000,10.150000,10.150000,0.000000
b,1,0.000000,0.000000,20.225000,20.225000,0.000000
END

# themis: who has not run yet comes first; a has lost 10 s of start-up in the interval before that.
sed 's/^b,1,50000/b,1,50001/' quirk.csv | sed 's/reader/m/; s/counter/m/' >late.csv
"$dlsim" muri --nodes=1 --gpus=1 --schedule=themis late.csv -q >out || fail "themis"
same "the newcomer runs at once" out <<END
job_id,num_gpu,submit,start,end,executed,pending
b,1,50.001000,50.001000,60.151000,10.150000,0.000000
a,1,0.000000,0.000000,121.650000,111.500000,10.150000
END
# With room for all: 10 s of start-up in each interval but the last.
"$dlsim" muri --nodes=1 --gpus=4 --schedule=themis late.csv -q >out || fail "themis"
same "room for all" out <<END
job_id,num_gpu,submit,start,end,executed,pending
b,1,50.001000,50.001000,60.151000,10.150000,0.000000
a,1,0.000000,0.000000,121.500000,121.500000,0.000000
END

# The testbed: b is seen at 360 s, when a has lost 30 s and done 330 iterations; both are started anew.
cat >rounds.csv <<END
$header
a,1,0,400,m,8,1000,0,1000,800,100,100,0
b,1,10000,100,m,8,1000,0,1000,100,800,100,0
END
"$dlsim" muri --testbed --nodes=1 --gpus=2 --schedule=srsf rounds.csv -q >out || fail "testbed"
same "the testbed" out <<END
job_id,num_gpu,submit,start,end,executed,pending,starts
a,1,0.000000,0.000000,460.000000,460.000000,0.000000,2
b,1,10.000000,360.000000,490.000000,130.000000,350.000000,1
END
# Nothing comes or ends: a goes on without a start.
sed -i '$d' rounds.csv
"$dlsim" muri --testbed --nodes=1 --gpus=2 --schedule=tiresias rounds.csv -q >out || fail "testbed"
same "a quiet round" out <<END
job_id,num_gpu,submit,start,end,executed,pending,starts
a,1,0.000000,0.000000,430.000000,430.000000,0.000000,1
END
for schedule in srtf themis muri-s muri-l; do
    "$dlsim" muri --testbed --nodes=1 --gpus=1 --schedule=$schedule pair.csv -q >out || fail "testbed, $schedule"
done
"$dlsim" muri --testbed --schedule=antman pair.csv -q >out 2>err && fail "testbed, antman"
grep -q 'not known on the testbed' err || fail "testbed, antman: $(cat err)"
# Times in microseconds: no pair takes an iteration in 6 minutes.
sed 's/,800,100,100,/,800000,100000,100000,/; s/,100,800,100,/,100000,800000,100000,/' pair.csv >slip.csv
refused "iterations longer than a round" "left takes an iteration in a round of 360 s" muri --testbed --nodes=1 --gpus=1 slip.csv

wrong "no length" "take no time at all" "a,1,0,10,m,8,10000,0,1000,0,0,0,0"
wrong "negative stage" "milliseconds" "a,1,0,10,m,8,10000,0,1000,-1,0,5,0"
wrong "no iteration" "milliseconds" "a,1,0,10,m,8,10000,0,0,1,0,5,0"
wrong "priority" "0 (guaranteed) or 1" "a,1,0,10,m,8,10000,0,5,1,0,5,2"
wrong "no GPUs" "GPUs" "a,0,0,10,m,8,10000,0,5,1,0,5,0"
"$dlsim" muri --schedule=gandiva pair.csv 2>err && fail "unknown schedule"
grep -q gandiva err || fail "unknown schedule: $(cat err)"
