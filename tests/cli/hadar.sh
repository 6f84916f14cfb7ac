#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# hadar: prices, gangs over several GPU types, audited and worked by hand. Usage: hadar.sh DLSIM
. "$DLSIM_SOURCE/tests/support/cli.sh"

cat >hadar.cfg <<END
schema_version = 1;
cluster: { nodes = ( { count = 2; gpus = 2; gpu_type = "V100"; }, { count = 2; gpus = 2; gpu_type = "K80"; } ); };
scheduler: { name = "hadar"; interval = 60; restart = 0; restore_cost = "0 s"; };
perf: { model = "speeds"; speeds = "V100=2; K80=1"; };
predictor: { source = "oracle"; };
END

# ends TRACE OPTIONS...: id, start and end in whole seconds, preemptions.
ends() {
    expect 0 --config=hadar.cfg --trace="$1" "${@:2}" --set run.audit=true --quiet --force -o run.h5
    expect 0 export --csv --table=jobs run.h5 --force -o jobs.csv
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { printf "%s %.0f %.0f %d\n", $at["id"], $at["start_us"] / 1e6, $at["end_us"] / 1e6, $at["preempts"] }' jobs.csv
}
is() {
    ends "${@:2}" >got.txt
    tr ',' '\n' <<<"$1" >want.txt
    cmp -s want.txt got.txt || fail "${*:2}: $(cat got.txt), not $(cat want.txt)"
    checks=$((checks + 1))
}
header=job_id,num_gpu,submit_time,duration,model_name,gpu_type

# Two GPUs of each type are taken for 500 and 1000 s; a gang of four comes, for which no type has room: it
# goes over both, as fast as the K80s, and moves to four V100s in the first round after the others have gone.
# From 60 to 540 it does 480 s of 4000; what is left takes 3520 / 2.
printf '%s\n' $header a,2,0,1000,resnet50,V100 b,2,0,1000,resnet50,K80 c,4,10,4000,resnet50, >mixed.csv
is "a 0 500 0,b 0 1000 0,c 60 2300 1" mixed.csv
expect 0 export --csv --table=allocations run.h5 --force -o alloc.csv
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["job"] == "c" || $at["job"] == 2 { n[$at["node"]] += $at["gpus"] }
    END { exit !(length(n) >= 3) }' alloc.csv || fail "c was on these nodes: $(cat alloc.csv)"
# A restart that costs too much is not made.
is "a 0 500 0,b 0 1000 0,c 60 4060 0" mixed.csv --set scheduler.restart=2000
# The shorter of two equal gangs has the faster type: worth 1 / (2 x 50 s) against 1 / (2 x 500 s) a GPU-second.
printf '%s\n' $header long,4,0,1000,resnet50, short,4,0,100,resnet50, >two.csv
is "long 0 530 1,short 0 50 0" two.csv
# Who is refused nothing: without a predictor types are alike, and what the price keeps back is given in the end.
is "long 0 1000 0,short 0 50 0" two.csv --set predictor.source=none --set scheduler.restart=100000
# Two jobs on halves of a GPU leave it to nobody while one of them stays: a gang takes the GPUs of d, not those of b and a.
printf '%s\n' $header a,0.5,0,300,resnet50,V100 b,0.5,0,5000,resnet50,V100 d,2,0,300,resnet50,V100 gang,2,30,60,resnet50,V100 >halves.csv
is "a 0 150 0,b 0 2500 0,d 0 210 1,gang 60 90 0" halves.csv --set cluster.gpu_parts=any
echo "$checks checks"
