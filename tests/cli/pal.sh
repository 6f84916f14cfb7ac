#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# GPUs that differ in speed by class of model, and the placement that knows: runs worked by hand. Usage: pal.sh DLSIM
. "$DLSIM_SOURCE/tests/support/cli.sh"

cat >pal.cfg <<END
schema_version = 1;
cluster: { nodes = ( { count = 2; gpus = 2; gpu_type = "V100"; } ); };
scheduler: { name = "fifo"; };
placement: { name = "pal"; };
perf: { hardware = "$source/configs/hardware"; residual_sigma = 0.0;
        variability = "gpus.csv"; variability_classes = "m = A; resnet50=A; *=B"; };
END
gpus() {
    printf '%s\n' class,node,gpu,slowdown "$@" B,0,0,1 >gpus.csv
}

# ends TRACE OPTIONS...: end of each job in whole seconds.
ends() {
    expect 0 --config=pal.cfg --trace="$1" "${@:2}" --set run.audit=true --quiet --force -o run.h5
    expect 0 export --csv --table=jobs run.h5 --force -o jobs.csv
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { printf "%.0f ", $at["end_us"] / 1e6 }' jobs.csv
}
is() {
    local want=$1 got
    got=$(ends "${@:2}")
    test "$got" = "$want " || fail "${*:2}: ends at $got, not $want"
    checks=$((checks + 1))
}
header=job_id,num_gpu,submit_time,duration,model_name,batch_size

# A gang is as fast as its slowest GPU: node 0 has one of half the speed. Who feels nothing goes anywhere.
gpus A,0,0,1 A,0,1,2 A,1,0,1.25 A,1,1,1.25
printf '%s\n' $header g,2,0,100,m,1 >gang.csv
is 200 gang.csv --placement=consolidated
is 125 gang.csv
printf '%s\n' $header g,2,0,100,other,1 >other.csv
is 100 other.csv --placement=consolidated
# Single GPUs, the fastest first. Slowdowns are relative: twice all of them is the same.
printf '%s\n' $header a,1,0,100,m,1 b,1,1,100,m,1 c,1,2,100,m,1 d,1,3,100,m,1 >four.csv
is "100 126 127 203" four.csv
gpus A,0,0,2 A,0,1,4 A,1,0,2.5 A,1,1,2.5
is "100 126 127 203" four.csv
# A GPU that is not listed has 1.
gpus A,1,0,0.5
is "100 201 202 203" four.csv
# The operator model's truth is slowed down alike on one GPU.
gpus A,0,0,1 A,0,1,2 A,1,0,2 A,1,1,2
printf '%s\n' $header a,1,0,100,resnet50,64 b,1,1,100,resnet50,64 >two.csv
is "100 201" two.csv --set perf.model=operator
# Three times as slow on one node, or one GPU of each: worth it if spreading costs less than that.
gpus A,0,0,1 A,0,1,3 A,1,0,1 A,1,1,3
is 100 gang.csv
is 300 gang.csv --set placement.across=4
# GPUs within a step are equal, and then the node with fewer free ones is taken.
gpus A,0,0,1 A,0,1,1 A,1,0,1.04 A,1,1,3
printf '%s\n' $header a,1,0,100,m,1 >one.csv
is 104 one.csv
is 100 one.csv --set placement.step=0.01

# Drawn from quantiles: by seed, each GPU with one rank for all classes.
quantiles() {
    printf '%s\n' class,quantile,slowdown B,0,1 B,1,1 "$@" >gpus.csv
}
quantiles A,0,1 A,1,1
is 100 gang.csv
quantiles A,0,1 A,0.5,2 A,1,4
first=$(ends four.csv)
test "$first" = "$(ends four.csv)" || fail "the same seed draws other GPUs"
test "$first" != "$(ends four.csv --seed=2)" || fail "another seed draws the same GPUs"
for end in $first; do
    test "$end" -ge 100 && test "$end" -le 403 || fail "slowdowns of 1 to 4: $first"
done

# What cannot be meant is an error that says where.
wrong() {
    local code=$1 says=$2
    shift 2
    expect "$code" --config=pal.cfg --trace=gang.csv --quiet --force -o run.h5 "$@"
    says err.txt "$says"
}
quantiles A,0,1 A,0.5,2
wrong 4 "class 'A' has no quantile 1"
quantiles A,0,1 A,0.5,2 A,1,1.5
wrong 4 "gpus.csv:6"
quantiles A,0.1,1 A,1,2
wrong 4 "quantiles begin with 0"
gpus A,0,0,1 A,0,0,2
wrong 4 "listed twice"
gpus A,2,0,1
wrong 4 "a node of the cluster"
gpus A,0,2,1
wrong 4 "a GPU of that node"
gpus A,0,0,0
wrong 4 "a slowdown from 0.01 to 100"
printf '%s\n' class,slowdown A,1 >gpus.csv
wrong 4 "neither a quantile, nor node and GPU"
gpus A,0,0,1
wrong 3 "MODEL=CLASS" --set "perf.variability_classes=m=C"
wrong 3 "MODEL=CLASS" --set "perf.variability_classes=m"
wrong 3 "MODEL=CLASS" --set "perf.variability_classes=m=A n=B"
wrong 3 "go together" --set "perf.variability_classes="
wrong 3 "go together" --set "perf.variability="
wrong 3 "go in step" --set "perf.stages=x.csv"
echo "$checks checks"
