#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim tiresias as a drop-in: flags, files, exit codes, what it refuses. Usage: tiresias.sh DLSIM
set -u
dlsim=$(readlink -f "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

fail() { echo "FAILED: $*"; failed=1; }
# expect NAME CODE TEXT-ON-STDERR COMMAND...
expect() {
    local name=$1 code=$2 text=$3
    shift 3
    "$@" >out 2>err
    local got=$?
    [ $got -eq "$code" ] || fail "$name: exit code $got, expected $code: $(cat err)"
    [ -z "$text" ] || grep -qF -- "$text" err || fail "$name: '$text' not in: $(cat err)"
}
# same NAME FILE: the rest of the input is the whole expected file, CRLF added
same() {
    sed 's/$/\r/' >expected
    cmp -s expected "$2" || { fail "$1"; diff expected "$2"; }
}

cat >jobs.csv <<'END'
job_id,num_gpu,submit_time,iterations,model_name,duration,interval
a,4,0,1,vgg16,100.9,10
b,2,10,1,vgg16,50,10
b,2,10,1,resnet50,30,10
END
cat >cluster.csv <<'END'
num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node
1,2,2,64,100
END

expect count 0 '' "$dlsim" tiresias --trace_file jobs.csv --cluster_spec=cluster.csv \
    --schedule shortest --scheme count --log_path logs/count
same 'job.csv by count' logs/count/job.csv <<'END'
time,job_id,num_gpu,submit_time,start_time,end_time,executed_time,JCT,duration,pending_time,preempt,resume,promote
40,b,2,10,10,40,30,30,30,0,0,1,0
60,b,2,10,10,60,50,50,50,0,0,1,0
150,a,4,0,0,150,150,150,100,50,1,2,0
END
same 'cluster.csv by count' logs/count/cluster.csv <<'END'
time,idle_node,busy_node,full_node,idle_gpu,busy_gpu,pending_job,running_job,completed_job
0,0,2,2,0,4,0,1,0
10,0,2,2,0,4,1,2,0
40,1,1,1,2,2,1,1,1
60,0,2,2,0,4,0,1,2
150,2,0,0,4,0,0,0,3
END
[ "$(ls logs/count)" = "$(printf 'cluster.csv\njob.csv')" ] || fail "files by count: $(ls logs/count)"

# Shortened flags, flags in place of a cluster file, the summary.
expect yarn 0 '' "$dlsim" tiresias --trace jobs.csv --num_s 1 --num_node 2 --num_g 2 --num_c 64 \
    --mem 100 --schedule=fifo --schem=yarn --log logs/yarn --print --flush
grep -q 'jobs ended *3 of 3' out || fail "summary: $(cat out)"
same 'job.csv by yarn' logs/yarn/job.csv <<'END'
time,job_id,num_gpu,submit_time,start_time,end_time,executed_time,JCT,duration,pending_time,preempt,promote
100,a,4,0,0,100,100,100,100,0,0,0
130,b,2,10,100,130,30,120,30,90,0,0
150,b,2,10,100,150,50,140,50,90,0,0
END
same 'cluster.csv by yarn' logs/yarn/cluster.csv <<'END'
time,idle_node,busy_node,full_node,idle_gpu,busy_gpu,pending_job,running_job,completed_job
0,0,0,2,0,4,0,1,0
10,0,0,2,0,4,2,1,0
100,0,0,2,0,4,0,2,1
130,1,0,1,2,2,0,1,2
150,2,0,0,4,0,0,0,3
END
same 'cpu.csv' logs/yarn/cpu.csv <<'END'
time,cpu0,cpu1
0,12,12
10,12,12
100,12,12
130,12,0
150,0,0
END
same 'gpu.csv' logs/yarn/gpu.csv <<'END'
time,gpu0,gpu1
0,2,2
10,2,2
100,2,2
130,2,0
150,0,0
END
same 'memory.csv' logs/yarn/memory.csv <<'END'
time,max,99th,95th,med
0,24.8,24.8,24.8,24.8
10,24.8,24.8,24.8,24.8
100,7.0,7.0,7.0,7.0
130,7.0,7.0,7.0,7.0
END
same 'network.csv' logs/yarn/network.csv <<'END'
time,in0,out0,in1,out1
0,2107.2,2107.2,2107.2,2107.2
10,2107.2,2107.2,2107.2,2107.2
100,0.0,0.0,0.0,0.0
130,0.0,0.0,0.0,0.0
150,0.0,0.0,0.0,0.0
END

# The defaults are the original's: tf_job.csv, fifo, yarn, a dated folder.
cp jobs.csv tf_job.csv
expect defaults 0 '' "$dlsim" tiresias
ls -d result-????????-??-??-?? >/dev/null 2>&1 || fail "default folder: $(ls)"

# Jobs that cannot run: absent, counted; nothing could run: not a success.
printf 'job_id,num_gpu,submit_time,duration\n1,5,0,10\n2,1,3,10\n' >large.csv
expect 'some jobs never run' 0 '1 of 2 jobs never ran and are not in job.csv (1 ask for more' \
    "$dlsim" tiresias --trace_file large.csv --cluster_spec cluster.csv --schedule fjf --log_path l
[ "$(wc -l <l/job.csv)" = 2 ] || fail "job.csv of infeasible jobs: $(cat l/job.csv)"
expect 'blocked for ever' 1 'nothing could run' \
    "$dlsim" tiresias --trace_file large.csv --cluster_spec cluster.csv --schedule fifo --log_path l

# What the original takes silently is refused.
run=("$dlsim" tiresias --trace_file jobs.csv --cluster_spec cluster.csv --log_path refused)
expect 'unknown schedule' 2 "did you mean 'dlas-gpu'" "${run[@]}" --schedule dlas-gpo
expect 'unknown scheme' 2 "did you mean 'yarn'" "${run[@]}" --scheme yarm
expect 'crashing scheme' 2 'crashes in the original' "${run[@]}" --scheme random
expect 'wrong pair' 2 'works with scheme gandiva' "${run[@]}" --schedule gandiva
expect 'unknown flag' 2 "did you mean '--schedule'" "${run[@]}" --shedule fifo
expect 'ambiguous flag' 2 'ambiguous' "${run[@]}" --sche fifo
expect 'stray word' 2 'unexpected word' "${run[@]}" fifo
expect 'bad arithmetic' 2 'python2 or python3' "${run[@]}" --arithmetic c
expect 'bad size' 2 'expected an integer' "${run[@]}" --num_switch 0
expect 'no samples' 4 'yarn-gput1000.csv' "${run[@]}" --schedule dlas-gpu-gittins
expect 'no trace' 4 'missing.csv' "${run[@]}" --trace_file missing.csv
expect 'no cluster' 4 'missing.csv' "${run[@]}" --cluster_spec missing.csv
printf 'job_id,num_gpu,duration\n1,1,10\n' >columns.csv
expect 'missing column' 4 'submit_time' "${run[@]}" --trace_file columns.csv
printf 'num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node\n1,2,2,64\n' >short.csv
expect 'missing cluster column' 4 'mem_p_node' "${run[@]}" --cluster_spec short.csv
[ ! -e refused/job.csv ] || fail 'a refused run wrote job.csv'
: >plain
expect 'folder in the way' 5 'plain' "${run[@]}" --log_path plain/logs

printf 'duration\n5\n50\n500\n' >samples.csv
expect 'samples' 0 '' "${run[@]}" --schedule dlas-gpu-gittins --samples samples.csv --arith python3
[ "$(wc -l <refused/job.csv)" = 4 ] || fail 'Gittins run'
[ -z "$(find . -name '.?*')" ] || fail "left behind: $(find . -name '.?*')"
"$dlsim" tiresias --help | grep -q 'dlas-gpu-gittins' || fail 'help lists schedules'
exit $failed
