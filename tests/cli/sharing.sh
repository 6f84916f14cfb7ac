#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Schedulers that share, in the engine: muri-s and muri-l (groups worked by hand, profiles that are none), lucid, qssf.
# Usage: sharing.sh DLSIM
. "$DLSIM_SOURCE/tests/support/cli.sh"

# takes NAME MAKESPAN TRACE OPTION...: the run, audited, ends then
takes() {
    local name=$1 span=$2 trace=$3
    shift 3
    "$dlsim" --config=muri.cfg --trace="$trace" --set run.audit=true "$@" >out 2>err ||
        fail "$name: $(cat err)"
    grep -qE "^makespan +$span\$" out || fail "$name: not $span but $(grep makespan out)"
}
# wrong NAME TEXT OPTION...
wrong() { refused "$1" "$2" --config=muri.cfg --trace=pair.csv "${@:3}"; }

cat >stages.csv <<'END'
model,gpus,data_s,compute_s,exchange_s,iteration_s
reader,1,0.8,0.1,0.1,1
counter,1,0.1,0.8,0.1,1
END
cat >muri.cfg <<'END'
schema_version = 1;
cluster: { nodes = ( { count = 1; gpus = 1; gpu_type = "V100"; } ); };
perf: { stages = "stages.csv"; };
scheduler: { name = "muri-s"; stages = "stages.csv"; interval = "1 s"; };
END
header=job_id,num_gpu,submit_time,duration,model_name,gpu_type
printf '%s\n' "$header" 'a,1,0,10,reader,' 'b,1,0,10,counter,' >pair.csv
printf '%s\n' "$header" 'a,1,0,10,counter,' 'b,1,0,10,counter,' >same.csv

# Together no less than 1 s an iteration, one after the other 2 s, 83 % of the difference overlaps: 1.17 s.
takes "a pair" "11.7 s" pair.csv
takes "attained service" "11.7 s" pair.csv --set scheduler.name=muri-l --set scheduler.stages=stages.csv \
    --set scheduler.interval=1
takes "perfect overlap" "10.0 s" pair.csv --set perf.stages_overlap=1
takes "nobody shares" "20.0 s" pair.csv --set scheduler.group_max=1
takes "two of a kind do not gain" "20.0 s" same.csv
takes "no profiles, no groups" "20.0 s" pair.csv --set scheduler.stages=
# b comes 5 s later; from the next round on the two share: a has 5 s left, at 1 / 1.17.
printf '%s\n' "$header" 'a,1,0,10,reader,' 'b,1,5,10,counter,' >later.csv
# 5 + 5 x 1.17 = 10.85 s; b has then done 5 s and is alone.
takes "who is left is alone again" "15.8 s" later.csv
# Groups do not cross GPU types: a and c share the V100, 1.6 s of reading for both and 0.17 x 0.4 s, and do not
# part when b leaves a P100 that neither may have.
sed -i 's/count = 1; gpus = 1; gpu_type = "V100"; }/&, { count = 1; gpus = 1; gpu_type = "P100"; }/' muri.cfg
printf '%s\n' "$header" 'a,1,0,10,reader,V100' 'b,1,0,10,counter,P100' 'c,1,0,10,reader,V100' >types.csv
takes "types" "16.7 s" types.csv

printf 'model,gpus,data_s,compute_s,exchange_s\nreader,1,0,0,0\n' >zero.csv
printf 'model,gpus,data_s,compute_s,exchange_s\nreader,1,-1,1,0\n' >negative.csv
printf 'model,gpus,data_s,compute_s,exchange_s\nreader,1,1,1,0\nReader,1,1,2,0\ncounter,1,1,1,1\n' >twice.csv
printf 'model,gpus,data_s,compute_s,exchange_s\nreader,1,1,1,0\n' >unknown.csv
printf 'model,gpus,data_s,compute_s,exchange_s\nreader,1,1\n' >short.csv
wrong "policy, no length" "zero.csv:2: an iteration or its stages take no time" --set scheduler.stages=zero.csv
wrong "policy, negative" "negative.csv:2: expected a number of at least 0" --set scheduler.stages=negative.csv
wrong "policy, columns" "short.csv:2: expected model,gpus" --set scheduler.stages=short.csv
wrong "policy, no file" "none.csv: cannot be opened" --set scheduler.stages=none.csv
wrong "world, no length" "take no time at all" --set perf.stages=zero.csv
wrong "world, negative" "expected seconds" --set perf.stages=negative.csv
wrong "world, twice" "listed twice" --set perf.stages=twice.csv
wrong "world, unknown model" 'no stages of model "counter" (job b)' --set perf.stages=unknown.csv

# ---- lucid. Alone the two take 150 s; on one GPU together the world lets them end after 130 s. By the predictor both keep the
# GPU busy all the time, which makes scores of 2: nobody shares, unless busy neighbours are said to cost nothing.
cat >muri.cfg <<'END'
schema_version = 1;
cluster: { nodes = ( { count = 1; gpus = 1; gpu_type = "V100"; } ); };
perf: { model = "operator"; reference_gpu = "V100"; };
predictor: { source = "operator"; };
scheduler: { name = "lucid"; quiet = 0.0; slope = 0.0; };
END
printf '%s\n' "$header" 'a,1,0,100,resnet50,' 'b,1,0,50,alexnet,' >pair.csv
takes "lucid, a pair" "2.16 min" pair.csv
takes "lucid, too busy" "2.50 min" pair.csv --set scheduler.slope=0.31
takes "lucid, quiet" "2.50 min" pair.csv --set scheduler.quiet=1
takes "lucid, impatient" "2.50 min" pair.csv --set scheduler.patience=0.1
takes "lucid, profiled for 10 s" "2.33 min" pair.csv --set scheduler.profile=10s
takes "lucid, nothing predicted" "2.50 min" pair.csv --set predictor.source=none
# Pairs, not threes: c waits for the first to end.
printf '%s\n' "$header" 'a,1,0,100,resnet50,' 'b,1,0,100,resnet50,' 'c,1,0,100,resnet50,' >three.csv
"$dlsim" --config=muri.cfg --trace=three.csv --json -q >out 2>err || fail "lucid, three: $(cat err)"
grep -q '"guest_starts": 1,' out || fail "lucid, three: $(grep guest out)"

# ---- qssf: least run time x GPUs first, from the head: d, of 2 GPUs x 30 s, goes before c, of 1 x 70 s, and c does not pass it.
sed -i 's/gpus = 1/gpus = 2/; /^perf/d; /^predictor/d; /^scheduler/d' muri.cfg
printf '%s\n' "$header" 'a,1,0,100,m,' 'c,1,10,70,m,' 'd,2,10,30,m,' >order.csv
takes "qssf" "3.33 min" order.csv --scheduler=qssf
takes "fjf does pass it" "2.17 min" order.csv --scheduler=fjf

# ---- fifo and horus: c, which nobody has GPUs for, joins a, and d, which stood behind c, starts on its own at the same time.
cat >muri.cfg <<WORLD
schema_version = 1;
cluster: { nodes = ( { count = 2; gpus = 4; gpu_type = "V100"; } ); };
perf: { hardware = "$source/configs/hardware"; };
predictor: { source = "oracle"; };
scheduler: { name = "fifo"; };
placement: { name = "horus"; };
WORLD
printf '%s\n' "$header" 'a,4,0,100,resnet50,' 'b,2,0,100,resnet50,' 'c,4,1,50,resnet50,' 'd,1,1,200,resnet50,' >behind.csv
takes "a guest holds nobody up" "3.35 min" behind.csv
