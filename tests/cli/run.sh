# SPDX-License-Identifier: GPL-3.0-or-later
# Runs: summary, JSON, results file, quiet, precedence, infeasible jobs, studies.
. "$DLSIM_SOURCE/tests/support/cli.sh"
config=$source/configs/quickstart.cfg

expect 0 --config="$config" --trace="$sample"
says out.txt "job completion time"
says err.txt "60 jobs"
! grep -q "results:" err.txt || fail "results written without being asked"
expect 0 run -c "$config" --trace="$sample" --json
python3 -c 'import json; json.load(open("out.txt"))' || fail "--json is not JSON"
expect 0 --config="$config" --trace="$sample" --quiet
empty out.txt
empty err.txt

# A results file, not replaced without --force, and readable.
expect 0 --config="$config" --trace="$sample" -o run.h5
says err.txt "results: run.h5"
expect 5 --config="$config" --trace="$sample" -o run.h5
says err.txt "--force"
expect 0 --config="$config" --trace="$sample" -o run.h5 --force
test "$(ls | grep -c part)" -eq 0 || fail "a part was left"
expect 0 inspect run.h5
expect 0 --config="$config" --trace="$sample" --set results.path=set.h5 -q
test -s set.h5 || fail "results.path did not count"

# The resolved configuration in the file loads and gives the same.
digest() {
    "$dlsim" --trace="$sample" --json -q "$@" | grep -o '"digest": *"[0-9a-f]*"'
}
"$dlsim" config --resolve "$config" --set run.seed=7 >resolved.cfg
says resolved.cfg "seed = 7;"
"$dlsim" config --resolve resolved.cfg | cmp - resolved.cfg || fail "resolving is not stable"
test "$(digest --config="$config" --seed=7)" = "$(digest --config=resolved.cfg)" || fail "digests"

# default < file < --set, named options in the order of the command line
expect 0 config --resolve "$config" --set scheduler.restore_cost=5
says out.txt 'restore_cost = "5 s";'
tight="--set cluster.nodes[0].count=2"
a=$(digest --config="$config" $tight --scheduler=srtf)
b=$(digest --config="$config" $tight --set scheduler.name=srtf)
c=$(digest --config="$config" $tight --scheduler=fifo --set scheduler.name=srtf)
d=$(digest --config="$config" $tight --scheduler=fifo)
test -n "$a" && test "$a" = "$b" && test "$b" = "$c" && test "$a" != "$d" || fail "precedence: $a $b $c $d"
printf 'job_id,num_gpu,submit_time,duration\n1,4,0,10\n2,4,5,1000000\n' >two.csv
expect 0 --config="$config" --trace=two.csv --until=100 --json -q
python3 - <<'END' || fail "--until"
import json
text = json.dumps(json.load(open("out.txt")))
assert '"unfinished": 1' in text and '"completed": 1' in text, text
END

# Standard input, as trace and as configuration.
"$dlsim" --config="$config" --trace=- -q --json <"$sample" >out.txt || fail "trace from stdin"
"$dlsim" --config=- --trace="$sample" -q --json <"$config" >out.txt || fail "configuration from stdin"

# A job that can never run is told before, and blocks nobody.
printf 'job_id,num_gpu,submit_time,duration\nbig,300,0,10\nsmall,1,1,10\n' >big.csv
expect 0 --config="$config" --trace=big.csv
says err.txt "1 of 2 jobs can never run"
says err.txt "left out: more GPUs than there are of a type (1, the first is big of 300 GPUs)"

# Results are HDF5, for which standard output is no place, nor is a file of that name made.
expect 2 --config="$config" --trace="$sample" -q -o -
says err.txt "'-': this is written to a file, not to standard output: give its name"
test ! -e ./- || fail "a file '-'"

# The Tiresias simulator is a command of its own, no mode of a configuration.
expect 3 --config="$config" --trace="$sample" --set run.compat=tiresias
says err.txt "unknown key 'run.compat'"

# What is said of a key that is none can be typed as it is.
said() {
    expect 3 --config="$config" --trace="$sample" --set "$1"
    says err.txt "$2"
}
said cluster.nodes=3 "'cluster.nodes' is a list: set one of its keys, 'cluster.nodes[0].KEY'"
said cluster=3 "'cluster' is a group: set one of its keys, 'cluster.KEY'"
said cluster.nodes.count=3 "(did you mean 'cluster.nodes[0].count'?)"
said 'cluster.nodes[0].cont=3' "(did you mean 'cluster.nodes[0].count'?)"
said 'cluster.nodes[].count=3' "an element has its number, as in 'cluster.nodes[0].count'"

# A study.
expect 0 study --config="$config" --trace="$sample" --schedulers=fifo,srtf --placements=count,spread -o study
for run in fifo/count fifo/spread srtf/count srtf/spread; do
    says out.txt "$run"
done
cp out.txt first.txt
expect 0 compare "study/$(basename "$config" .cfg).h5"
cmp out.txt first.txt || fail "a study's file compares otherwise than the study"
test "$(find study/points -name '*.h5' | wc -l)" = 4 || fail "four runs are not kept"
expect 0 study --config="$config" --trace="$sample" --schedulers=fifo,srtf --replicas=3 --baseline=fifo
says out.txt "Means over seeds"
expect 2 study --config="$config" --trace="$sample" --schedulers=fifo,srtf --baseline=fifa
says err.txt "no run is called 'fifa'"
test -z "$(find . -name 'dlsim-*')" || fail "a folder is left"
expect 0 study --config="$config" --trace="$sample" --schedulers=fifo,dlas-gpu --json -q
python3 -c 'import json; assert len(json.load(open("out.txt"))["runs"]) == 2' || fail "study --json"
expect 3 study --config="$config" --trace="$sample" --schedulers=fifo,srft
says err.txt "did you mean 'srtf'?"

# Output that cannot be written.
mkdir -p here
expect 5 --config="$config" --trace="$sample" -o here
says err.txt "not a file"
if [ "$(id -u)" -ne 0 ]; then
    mkdir -m 555 closed
    expect 5 --config="$config" --trace="$sample" -o closed/run.h5
fi
# A file size limit stands for a full disk.
(
    ulimit -f 4
    code=0
    "$dlsim" --config="$config" --trace="$sample" -o full.h5 >out.txt 2>/dev/null || code=$?
    echo $code >code.txt
)
test "$(cat code.txt)" -eq 5 || fail "a full disk: exit code $(cat code.txt)"
test ! -e full.h5 && test ! -e full.h5.part || fail "a truncated file was left"

# Progress only when asked or on a terminal.
expect 0 --config="$config" --trace="$sample"
! grep -q "ETA\|\[=" err.txt || fail "a progress bar in a pipe"
echo "$checks checks"
