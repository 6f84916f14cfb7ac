#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim gavel: results worked by hand, and what it refuses. Usage: gavel.sh DLSIM
. "$DLSIM_SOURCE/tests/support/cli.sh"

# job STEPS GPUS WEIGHT ARRIVAL: a row of a trace
job() { printf 'LM (batch size 5)\tcmd\tdir\t--steps\t1\t%s\t%s\t%s\t-1\t%s\n' "$@"; }
# jct EXPECTED OPTION...: completion times of the jobs of jobs.trace in turn
jct() {
    local expected=$1
    shift
    "$dlsim" gavel --throughputs=speeds.json --gpus=1 jobs.trace -q "$@" >out || fail "$*: does not run"
    test "$(tail -n +2 out | cut -d, -f6 | tr '\n' ' ')" = "$expected " || {
        fail "$*: $(tail -n +2 out | cut -d, -f6 | tr '\n' ' '), expected $expected"
    }
}
# wrong NAME TEXT OPTION...
wrong() { refused "$1" "$2" gavel --gpus=1 -q "${@:3}"; }
cat >speeds.json <<'END'
{"v100": {"('LM (batch size 5)', 1)": {"null": 10.0, "('LM (batch size 5)', 1)": [8.0, 8.0]},
          "('LM (batch size 5)', 2)": {"null": 15.0, "('LM (batch size 5)', 2)": [9.0, 9.0]}},
 "k80": {"('LM (batch size 5)', 1)": {"null": 1.0, "('LM (batch size 5)', 1)": [0.5, 0.5]},
         "('LM (batch size 5)', 2)": {"null": 1.5, "('LM (batch size 5)', 2)": [0.9, 0.9]}}}
END

# One GPU, 10 steps/s, rounds of 100 s: the second begins when the first ends; so does the third, 200 s
# after it, because its GPU was free: 1,000 steps are one round, 1,500 one and a half.
{ job 1000 1 1 0; job 1500 1 1 0; job 500 1 1 1000; } >jobs.trace
jct "100.000000 250.000000 50.000000" --policy=fifo_perf --v100=1 --k80=0 --round=100
# Two jobs on one GPU: 8 of 10 steps/s each is a gain of 1.6; both end when the longer does.
{ job 800 1 1 0; job 400 1 1 0; } >jobs.trace
jct "100.000000 100.000000" --policy=fifo_packed --v100=1 --round=200
# Least attained service takes the pair, too: 0.8 for both is more than half a GPU each. Without pairs they take turns.
{ job 800 1 1 0; job 800 1 1 0; } >jobs.trace
jct "100.000000 100.000000" --policy=max_min_fairness_packed --v100=1 --round=200
jct "80.000000 160.000000" --policy=max_min_fairness --v100=1 --round=200
# Its last 3 steps on 4 GPUs are nothing for one of them, five times in a row: dropped.
cat >four.json <<'END'
{"v100": {"('LM (batch size 5)', 4)": {"null": 1.0}}}
END
job 103 4 1 0 >odd.trace
"$dlsim" gavel --throughputs=four.json --v100=4 --policy=fifo_perf --round=100 odd.trace >out 2>err || fail "odd"
grep -q '^0,4,0.000000,0.000000,,,' out || fail "not dropped: $(cat out)"
grep -q 'jobs ended   0 of 1' err || fail "report: $(cat err)"

# Two jobs that share a GPU at half a step a round each take none, and are never dropped.
{ job 1000 1 1 0; job 1500 1 1 0; job 500 1 1 1000; job 50 2 2 1000; } >still.trace
for pause in 0 1000; do
    wrong "half a step, $pause s between rounds" "left takes a step in a round" --throughputs=speeds.json --v100=0 --k80=2 \
        --gpus=2 --round=1 --policy=gandiva --pause=$pause still.trace
done

wrong "no table" "--throughputs" --v100=1 jobs.trace
wrong "no server" "no server" --throughputs=speeds.json --v100=0 jobs.trace
wrong "unknown policy" "themis" --policy=themis --throughputs=speeds.json jobs.trace
wrong "four GPUs" "4 GPUs" --throughputs=speeds.json --v100=8 odd.trace
wrong "allox with gangs" "AlloX" --policy=allox --throughputs=four.json --v100=4 odd.trace
wrong "fork on two types" "v100 alone" --shockwave --k80=1 --throughputs=speeds.json jobs.trace
echo '[1]' >list.json
wrong "not a table" "table of throughputs" --throughputs=list.json --v100=1 jobs.trace
echo '{"v100": {"x": 3}}' >bad.json
wrong "not a job" "expected an object" --throughputs=bad.json --v100=1 jobs.trace
echo '{"v100": {' >cut.json
wrong "cut off" "table of throughputs" --throughputs=cut.json --v100=1 jobs.trace
job 0 1 1 0 >none.trace
wrong "no steps" "0 steps" --throughputs=speeds.json --v100=1 none.trace
sed 's/LM /XLM /' jobs.trace >model.trace
wrong "unknown model" "XLM" --throughputs=speeds.json --v100=1 model.trace
wrong "no rules" "XLM" --shockwave --throughputs=<(sed 's/LM /XLM /g' speeds.json) --v100=1 model.trace

wrong "market without the fork" "--shockwave" --policy=shockwave --throughputs=speeds.json jobs.trace

# Half as fast by a table of factors; what the table may not say.
printf 'gpu,model,batch,gpus,factor\nv100,LM,5,1,0.5\n' >half.csv
job 1000 1 1 0 >jobs.trace
jct "200.000000" --policy=max_min_fairness --v100=1 --round=200 --speed-factors=half.csv
printf 'gpu,model,batch,gpus,factor\na100,LM,5,1,0.5\n' >gpu.csv
wrong "factor of another GPU" "k80, p100 or v100" --throughputs=speeds.json --speed-factors=gpu.csv jobs.trace
printf 'gpu,model,batch,gpus,factor\nv100,LM,6,1,0.5\n' >batch.csv
wrong "factor of another batch" "no such job" --throughputs=speeds.json --speed-factors=batch.csv jobs.trace
printf 'gpu,model,batch,gpus,factor\nv100,LM,5,1,0\n' >zero.csv
wrong "factor of 0" "a factor" --throughputs=speeds.json --speed-factors=zero.csv jobs.trace
# A round of one job that starts is 20 + 1 s longer: 400 steps in two rounds of 20, the second goes on.
job 400 1 1 0 >jobs.trace
jct "62.000000" --policy=isolated --v100=1 --round=20 --growth=20 --pause=1 --immediate
