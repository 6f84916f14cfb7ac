#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The source profiles: every policy that shares decides by a table of models that only it knows. Usage: profiles.sh DLSIM
. "$DLSIM_SOURCE/tests/support/cli.sh"

columns=model,gpus,nodes,gpu_type,iteration_s,gpu_util,gpu_peak,mem_util,burst_s,burst_bps,mem_bytes
jobs=job_id,num_gpu,submit_time,duration,model_name,priority
cat >one.cfg <<'END'
schema_version = 1;
cluster: { nodes = ( { count = 1; gpus = 1; gpu_type = "V100-32GB"; } ); };
predictor: { source = "profiles"; table = "profiles.csv"; };
scheduler: { name = "fifo"; restore_cost = "0 s"; };
END
printf '%s\n' $jobs a,1,0,1000,alpha,1 b,1,10,1000,beta,0 >two.csv

# table ROW...: the profiles of alpha and beta.
table() { printf '%s\n' $columns "$@" >profiles.csv; }
idle() { table alpha,,,,0.2,0.2,0.9,0.1,,,1e9 "Beta (batch 3),1,,v100-32gb,0.2,0.3,0.9,0.1,,,1e9"; }
busy() { table alpha,,,,0.2,0.95,1,0.9,,,1e9 beta,,,,0.2,0.95,1,0.9,,,1e9; }

# guests CONFIG OPTION...: how many jobs shared the GPUs of another.
guests() {
    expect 0 --config="$1" --trace=two.csv "${@:2}" --set run.audit=true --quiet --force -o run.h5
    expect 0 export --csv --table=starts run.h5 --force -o starts.csv
    awk -F, 'NR > 1 && $4 >= 0 { n++ } END { print n + 0 }' starts.csv
}
# shares NAME BUSY OPTION...: two share by the profile of idle jobs, BUSY times by that of busy ones, and not if nothing is
# said of their use or of a, the host.
shares() {
    local name=$1 many=$2
    shift 2
    idle
    test "$(guests one.cfg "$@")" = 1 || fail "$name: idle jobs do not share"
    busy
    test "$(guests one.cfg "$@")" = "$many" || fail "$name: busy jobs"
    table alpha,,,,0.2,,,,,,1e9 beta,,,,0.2,,,,,,1e9
    test "$(guests one.cfg "$@")" = 0 || fail "$name: jobs of unknown use share"
    table gamma,,,,0.2,0.2,0.9,0.1,,,1e9 beta,,,,0.2,0.2,0.9,0.1,,,1e9
    test "$(guests one.cfg "$@")" = 0 || fail "$name: a job that is not in the table shares"
}
shares lucid 0 --scheduler=lucid --set scheduler.quiet=0
shares antman 0 --scheduler=antman
shares driple-pack 0 --placement=driple-pack
shares horus 1 --placement=horus
# Memory: 20 GB each do not fit.
idle
sed -i 's/1e9$/2e10/' profiles.csv
for placement in driple-pack horus; do
    test "$(guests one.cfg --placement=$placement)" = 0 || fail "$placement: memory does not fit"
done

# Memory is that of the row for the GPU type: 12 GB on V100s, which come first, 1 GB on the P100 that horus takes for it.
cat >types.cfg <<'END'
schema_version = 1;
cluster: { nodes = ( { count = 1; gpus = 1; gpu_type = "V100"; }, { count = 1; gpus = 1; gpu_type = "P100"; } ); };
placement: { name = "horus"; };
predictor: { source = "profiles"; table = "types.csv"; };
END
printf '%s\n' model,gpu_type,iteration_s,gpu_util,mem_bytes alpha,V100,1,0.2,1.2e10 alpha,P100,0.5,0.2,1e9 >types.csv
printf '%s\n' job_id,num_gpu,submit_time,duration,model_name a,1,0,10,alpha >one.csv
expect 0 --config=types.cfg --trace=one.csv --quiet --force -o types.h5
expect 0 export --csv --table=allocations types.h5 --force -o types.out
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 && $at["node"] == 1 { found = 1 } END { exit !found }' types.out ||
    fail "memory by GPU type: $(cat types.out)"

# Muri: half of each step prepares data; the GPU's bursts of both fill it. Two GPUs; a burst of the network is the
# rest of a step.
sed 's/gpus = 1/gpus = 2/; s/fifo/muri-s/' one.cfg >muri.cfg
sed -i 's/^\([ab]\),1/\1,2/' two.csv
table alpha,,,,1,0.5,1,,,, beta,,,,1,0.5,1,,,,
test "$(guests muri.cfg)" -ge 1 || fail "muri-s: stages that fit"
table alpha,,,,1,1,1,,,, beta,,,,1,1,1,,,,
test "$(guests muri.cfg)" = 0 || fail "muri-s: stages that do not fit"
table alpha,,,,1,0.1,1,,0.9,1e9, beta,,,,1,0.9,1,,0.1,1e9,
test "$(guests muri.cfg)" -ge 1 || fail "muri-s: an exchange beside a computation"
table alpha,,,,1,0.1,1,,0.9,1e9, beta,,,,1,0.1,1,,0.9,1e9,
test "$(guests muri.cfg)" = 0 || fail "muri-s: two exchanges"

# CASSINI and Crux: a and b meet on the link of a node in another rack than the rest of them. What is said of their bursts changes
# when they burst, and their paths and priorities.
cat >links.cfg <<'END'
schema_version = 1;
cluster: { nodes = ( { count = 3; gpus = 8; gpu_type = "V100-32GB"; rack_size = 1; nic = "10 Gb/s"; } );
           rack_uplink = "10 Gb/s"; uplinks = 2; };
perf: { model = "operator"; reference_gpu = "V100-32GB"; };
predictor: { source = "profiles"; table = "profiles.csv"; };
scheduler: { name = "fifo"; };
END
printf '%s\n' $jobs a,12,0,1000,vgg16,1 b,12,10,1000,vgg16,1 >two.csv
digest() {
    expect 0 --config=links.cfg --trace=two.csv --placement="$1" --set run.audit=true --json
    grep -o '"digest": "[^"]*"' out.txt
}
for placement in cassini crux; do
    table vgg16,,,,0.4,0.5,1,,,,
    without=$(digest $placement)
    table vgg16,,,,0.4,0.5,1,,0.2,1e9,
    test "$(digest $placement)" != "$without" || fail "$placement: bursts change nothing"
done

# Nearest in GPUs, then in nodes; a type's own row before one of any.
cat >ask.cfg <<'END'
schema_version = 1;
cluster: { nodes = ( { count = 2; gpus = 8; gpu_type = "V100-32GB"; }, { count = 1; gpus = 8; gpu_type = "A100"; } ); };
predictor: { source = "profiles"; table = "profiles.csv"; };
perf: { model = "speeds"; };
scheduler: { name = "fifo"; };
END
printf '%s\n' $jobs a,8,0,1000,alpha,1 >two.csv
# said OPTION...: the predicted time of a step where the job started.
said() {
    expect 0 --config=ask.cfg --trace=two.csv --placement=driple "$@" --quiet --force -o run.h5
    expect 0 export --csv --table=starts run.h5 --force -o starts.csv
    awk -F, 'NR == 2 { printf "%.2f\n", $11 }' starts.csv
}
table alpha,1,,,1,,,,,, alpha,6,1,,0.3,,,,,, alpha,6,2,,0.4,,,,,, alpha,64,,,9,,,,,,
test "$(said)" = 0.30 || fail "nearest: $(said)"
table alpha,8,,,0.3,,,,,, alpha,1,,A100,0.2,,,,,,
test "$(said)" = 0.20 || fail "the type's own: $(said)"

# What is no profile.
wrong() {
    printf '%s\n' "$3" "${@:4}" >profiles.csv
    refused "$1" "$2" --config=ask.cfg --trace=two.csv
}
wrong "no time" "profiles.csv:1: the header lacks the column 'iteration_s'" model,gpus alpha,1
wrong "length" "profiles.csv:2:7: column 'iteration_s': expected a number from 1e-09" model,iteration_s alpha,0
wrong "negative" "column 'iteration_s': expected a number" model,iteration_s alpha,-1
wrong "no length" "column 'iteration_s': expected seconds" model,iteration_s,gpus alpha,,1
wrong "no name" "expected the name of a model" model,iteration_s ,1
wrong "share" "column 'gpu_util': expected a number from 0 to 1" model,iteration_s,gpu_util alpha,1,64.8
wrong "peak" "the mean use is above the peak" model,iteration_s,gpu_util,gpu_peak alpha,1,0.8,0.7
wrong "burst" "a burst is longer than the iteration" model,iteration_s,burst_s,burst_bps alpha,1,2,1e9
wrong "half a burst" "burst_s and burst_bps go together" model,iteration_s,burst_s,burst_bps alpha,1,0.5,
wrong "twice" "profiles.csv:3:1: column 'model': this profile is listed twice" model,iteration_s alpha,1 "Alpha (x),2"
wrong "GPUs" "a whole number from 1 on" model,iteration_s,gpus alpha,1,0
table alpha,1,,,1,,,,,,
refused "no table" 'the source "profiles" needs a table' --config=ask.cfg --trace=two.csv --set predictor.table=
refused "recorded" 'is a recording already' --config=ask.cfg --trace=two.csv --predictions=record:said
refused "replayed" 'is a recording already' --config=ask.cfg --trace=two.csv --predictions=replay:said
echo "$((checks + 41)) checks"
