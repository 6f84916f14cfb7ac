# SPDX-License-Identifier: GPL-3.0-or-later
# Every option of a placement changes what happens, on the cluster of docs/placement-study.md.
. "$DLSIM_SOURCE/tests/support/cli.sh"

# run PLACEMENT OPTION=VALUE...: digest and mean job completion time in seconds.
run() {
    local placement=$1 option sets=()
    shift
    for option in "$@"; do
        sets+=(--set "placement.$option")
    done
    "$dlsim" --config="$source/configs/placement-study.cfg" --placement="$placement" --json --quiet \
        --set trace.max_jobs=2500 "${sets[@]}" >out.txt || fail "$placement $*"
    sed -n 's/^ *"digest": *"\(.*\)",/\1/p' out.txt
    sed -n 's/^ *"jct_mean_s": *\([0-9]*\).*/\1/p' out.txt | head -1
}

# differs PLACEMENT OPTION=VALUE...: from the same without the last option.
differs() {
    run "${@:1:$#-1}" >without.txt
    run "$@" >with.txt
    test "$(wc -l <with.txt)" -eq 2 || fail "$*: no result"
    cmp -s without.txt with.txt && fail "${*: -1} changes nothing under $1"
    checks=$((checks + 1))
}

differs delay node_wait=0
differs delay rack_wait=36000
differs tiresias skew_limit=0.9
differs tiresias learn=true
differs tiresias learn=true loss=0.5
for placement in driple driple-pack driple-net; do
    differs $placement gain=0.9
    differs $placement max_wait=60
done
for placement in driple driple-pack; do
    differs $placement relax=0
    differs $placement relax=0.3 link_part=0
done
differs cassini candidates=1
differs cassini mode=newcomer
for host in first-fit spread random crandom; do
    differs cassini host=$host
    run $host >without.txt # its own places, with jobs turned
    run cassini host=$host candidates=1 >with.txt
    cmp -s without.txt with.txt && fail "cassini turns nothing under $host"
done
differs cassini host=crandom candidates=1
differs crux levels=1
differs crux orders=1
differs driple-pack max_slowdown=1
differs driple-pack max_slowdown=10 knee=0
differs driple-pack slope=0
differs driple-pack memory_part=0

# Learning finds out that the models spread under a limit of 0.9 suffer.
run tiresias skew_limit=0.9 >guessed.txt
run tiresias skew_limit=0.9 learn=true >learned.txt
test "$(tail -1 learned.txt)" -lt $(($(tail -1 guessed.txt) * 9 / 10)) ||
    fail "learned: $(tail -1 learned.txt) s, guessed: $(tail -1 guessed.txt) s"

# Jobs that meet in pairs: what keeps them in step costs pauses, without agents their bursts meet by chance.
(echo job_id,submit_time,num_gpu,duration,model,batch_size
 for i in 0 1 2 3; do echo $i,$i,6,36000,resnet50,192; done) >four.csv
pairs() {
    "$dlsim" -c "$source/configs/studies/cassini-drift.cfg" --trace=four.csv --placement=cassini --json -q "$@" >out.txt 2>err.txt ||
        fail "$*: $(cat err.txt)"
    python3 -c 'import json; w = json.load(open("out.txt"))["world"]; print(w["placement_slowdown_mean"], w["pull_backs"], w["pull_back_gpu_s"])'
}
pairs >still.txt
pairs --set perf.jitter=0.01 >kept.txt
pairs --set perf.jitter=0.01 --set perf.pull_back=1 >left.txt
pairs --set perf.jitter=1e-9 >none.txt
paste still.txt kept.txt left.txt none.txt | awk '{exit !($1 < 1.001 && $1 < $4 && $4 < $7 && $2 == 0 && $8 == 0 && $5 > 1000 &&
    $1 == $10 && $6 > 0.3 * $5 * 6 * 0.067 && $6 < 0.6 * $5 * 6 * 0.067)}' || fail "drift: $(cat still.txt kept.txt left.txt none.txt)"
"$dlsim" -c "$source/configs/studies/cassini-drift.cfg" --trace=four.csv --placement=cassini --set perf.jitter=0.01 >out.txt 2>&1
says out.txt "pull-backs"
for wrong in jitter=-0.1 jitter=nan jitter=1.5 pull_back=-1 pull_back=nan pull_back=2; do
    expect 3 run -q -c "$source/configs/studies/cassini-drift.cfg" --trace=four.csv --set "perf.$wrong"
    says err.txt "perf.${wrong%=*}"
done

cp -r "$source/configs" "$source/traces" .
run_page "$source/docs/placement.md"
grep -q "5.91 h" out.txt || fail "docs/placement.md: another mean than 21,272 s: $(cat out.txt)"
echo "$checks checks"
