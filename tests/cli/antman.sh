#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# antman: guaranteed jobs are not slowed down by guests and take GPUs from opportunistic ones. Usage: antman.sh DLSIM
. "$DLSIM_SOURCE/tests/support/cli.sh"

cat >antman.cfg <<END
schema_version = 1;
cluster: { nodes = ( { count = 1; gpus = 1; gpu_type = "V100"; } ); };
scheduler: { name = "antman"; booked = 1.0; restore_cost = "0 s"; };
perf: { model = "operator"; hardware = "$source/configs/hardware"; reference_gpu = "V100"; residual_sigma = 0.0; };
predictor: { source = "oracle"; };
END
header=job_id,num_gpu,submit_time,duration,model_name,batch_size,priority

# ends TRACE OPTIONS...: id, start and end in whole seconds, preemptions and whether it was a guest.
ends() {
    expect 0 --config=antman.cfg --trace="$1" "${@:2}" --set run.audit=true --quiet --force -o run.h5
    expect 0 export --csv --table=jobs run.h5 --force -o jobs.csv
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { printf "%s %.0f %.0f %d %d\n", $at["id"], $at["start_us"] / 1e6, $at["end_us"] / 1e6, $at["preempts"], ($at["guest_us"] > 0) }' jobs.csv
}

# A guaranteed job, and an opportunistic one 10 s later that joins it.
printf '%s\n' $header g,1,0,100,resnet50,64,1 o,1,10,100,resnet50,64,0 >two.csv
ends two.csv --set perf.guests_yield=true >yield.txt
read -r _ gs ge gp gg <yield.txt
read -r _ os oe op og < <(tail -1 yield.txt)
test "$gs $ge $gp $gg" = "0 100 0 0" || fail "guaranteed: $(cat yield.txt)"
test "$os" -eq 10 && test "$op" -eq 0 && test "$og" -eq 1 && test "$oe" -gt 185 && test "$oe" -lt 205 || fail "guest: $(cat yield.txt)"
ends two.csv >alike.txt
read -r _ gs ge gp gg <alike.txt
test "$ge" -gt 120 || fail "both are slowed down alike: $(cat alike.txt)"

# One GPU, an opportunistic job has it: it loses it to the guaranteed one and is its guest then.
printf '%s\n' $header o,1,0,100,resnet50,64,0 g,1,10,100,resnet50,64,1 >late.csv
ends late.csv --set perf.guests_yield=true >late.txt
grep -qx "g 10 110 0 0" late.txt || fail "guaranteed, late: $(cat late.txt)"
read -r _ os oe op og <late.txt
test "$os" -eq 0 && test "$op" -eq 1 && test "$og" -eq 1 && test "$oe" -gt 190 || fail "opportunistic, first: $(cat late.txt)"

# Nobody joins a GPU that is booked out, nor without a prediction; without priorities all are guaranteed.
ends two.csv --set perf.guests_yield=true --set scheduler.booked=0.1 >booked.txt
grep -qx "o 100 200 0 0" booked.txt || fail "booked: $(cat booked.txt)"
ends two.csv --set predictor.source=none >blind.txt
grep -qx "o 100 200 0 0" blind.txt || fail "no predictor: $(cat blind.txt)"
# At most so much is booked: just that is not more.
for use in 0.1 0.2 0.3 0.5 0.7 0.8 0.9; do
    printf '%s\n' model,iteration_s,gpu_util resnet50,0.1,$use >use.csv
    ends two.csv --set predictor.source=profiles --set predictor.table=use.csv --set perf.model=trace --set scheduler.booked=$use >just.txt
    grep -qx "o 10 110 0 1" just.txt || fail "booked $use: $(cat just.txt)"
done
cut -d, -f1-6 two.csv >plain.csv
ends plain.csv --set perf.guests_yield=true >plain.txt
grep -qx "o 100 200 0 0" plain.txt || fail "no priorities: $(cat plain.txt)"

# Two types: of the opportunistic jobs only those lose their GPUs on whose type the gang then has room.
cat >antman.cfg <<END
schema_version = 1;
cluster: { nodes = ( { count = 1; gpus = 2; gpu_type = "V100"; }, { count = 1; gpus = 1; gpu_type = "K80"; } ); };
scheduler: { name = "antman"; restore_cost = "0 s"; };
END
printf '%s\n' job_id,num_gpu,submit_time,duration,gpu_type,priority a,1,0,100,V100,0 b,1,0,100,V100,0 \
    k,1,5,100,K80,0 g,2,10,50,,1 >types.csv
ends types.csv >types.txt
grep -qx "g 10 60 0 0" types.txt && grep -qx "k 5 105 0 0" types.txt || fail "types: $(cat types.txt)"
echo "$((checks + 16)) checks"
