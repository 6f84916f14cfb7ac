#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim trace: what its three commands print and write, and how they refuse.
set -u
dlsim=$1
source_dir=${DLSIM_SOURCE:?}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

fail() {
    echo "FAILED: $1"
    sed 's/^/    /' "$dir/out" "$dir/err"
    failed=1
}

# expect NAME RC PATTERN-IN-STDOUT PATTERN-IN-STDERR COMMAND...   (pattern -: must be empty)
expect() {
    local name=$1 rc=$2 out=$3 err=$4
    shift 4
    "$@" >"$dir/out" 2>"$dir/err"
    local got=$?
    [ $got -eq "$rc" ] || fail "$name: exit code $got, expected $rc"
    match "$name: stdout" "$out" "$dir/out"
    match "$name: stderr" "$err" "$dir/err"
}

match() {
    if [ "$2" = - ]; then
        [ ! -s "$3" ] || fail "$1 is not empty"
    else
        grep -q -- "$2" "$3" || fail "$1 lacks \"$2\""
    fi
}

# help and mistakes
expect "no command" 2 - "Usage" "$dlsim" trace
expect "help" 0 "trace generate" - "$dlsim" trace --help
for command in stats convert generate; do
    expect "$command help" 0 "Usage: dlsim trace $command" - "$dlsim" trace $command --help
    expect "$command bad option" 2 - "unknown option '--hlep' (did you mean '--help'?)" \
        "$dlsim" trace $command --hlep
done
expect "mistyped command" 2 - "did you mean 'stats'?" "$dlsim" trace stat
expect "stats of nothing" 2 - "expected a trace" "$dlsim" trace stats
expect "stats of two" 2 - "unexpected word" "$dlsim" trace stats a b
expect "missing file" 4 - "nowhere.csv" "$dlsim" trace stats "$dir/nowhere.csv"
expect "bad zero-duration" 2 - "keep, raise or drop" "$dlsim" trace stats --zero-duration=x a
expect "convert without -o" 2 - "--output is needed" "$dlsim" trace convert a.csv
expect "generate without -o" 2 - "--output is needed" "$dlsim" trace generate
expect "bad profile" 2 - "did you mean 'helios'?" "$dlsim" trace generate --profile=helois -o "$dir/x"
expect "bad jobs" 2 - "--jobs" "$dlsim" trace generate --jobs=1 -o "$dir/x"
expect "bad load" 2 - "--load" "$dlsim" trace generate --load=fast -o "$dir/x"
expect "bad queueing" 2 - "--queueing" "$dlsim" trace generate --queueing=2:3 -o "$dir/x"
expect "bad stamps" 2 - "--stamps" "$dlsim" trace generate --stamps=ms -o "$dir/x"
expect "bad share" 2 - '"1.5": expected a number above 0, at most 1' "$dlsim" trace generate --multi=1.5 -o "$dir/x"
expect "heavy load" 2 - 'number above 0, at most 1000' "$dlsim" trace generate --load=2000 -o "$dir/x"
expect "several of one" 2 - "on one GPU no job has several" "$dlsim" trace generate --gpus=1 --multi=0.5 -o "$dir/x"
"$dlsim" trace generate --jobs=400 --multi=0.4 -q -o "$dir/multi.csv"
[ "$(awk -F, '$2 + 0 > 1' "$dir/multi.csv" | wc -l)" -eq 160 ] || fail "jobs of several GPUs"
expect "bad duration" 2 - "--max-duration" "$dlsim" trace generate --max-duration=0 -o "$dir/x"
expect "load and queueing" 2 - "not both" \
    "$dlsim" trace generate --load=1 --queueing=heavy -o "$dir/x"
expect "unwritable" 5 - "no/such" "$dlsim" trace generate -o "$dir/no/such/file"
expect "bad table" 2 - "no workload table \"murri\" (did you mean 'muri'?)" \
    "$dlsim" trace convert --assign=murri -o "$dir/x" "$source_dir/traces/samples/quick_60.csv"
[ ! -e "$dir/x" ] || fail "a refused command wrote a file"

# the samples come from the commands that their README gives
cd "$dir" && mkdir -p traces/samples || exit 1
grep -E '^    dlsim trace generate .*traces/samples/' "$source_dir/traces/samples/README.md" >commands
[ "$(wc -l <commands)" -eq 2 ] || fail "README of the samples: two commands expected"
while read -r _ arguments; do
    # shellcheck disable=SC2086
    "$dlsim" $arguments -q || fail "dlsim $arguments"
done <commands
for sample in philly_like_5000 quick_60; do
    cmp "traces/samples/$sample.csv" "$source_dir/traces/samples/$sample.csv" ||
        fail "$sample.csv is not what its command gives"
done

# statistics
expect "stats" 0 "^jobs *5000$" - "$dlsim" trace stats traces/samples/philly_like_5000.csv
grep -q "^submit span *6.58 d" "$dir/out" || fail "stats: span"
expect "json" 0 '"jobs": 5000' - "$dlsim" trace stats --json traces/samples/philly_like_5000.csv
if command -v python3 >/dev/null; then
    python3 - "$dir/out" <<'P' || fail "stats --json"
import json, sys
stats = json.load(open(sys.argv[1]))
assert stats["jobs"] == 5000 and stats["format"] == "native"
assert sum(s["jobs"] for s in stats["sizes"]) == 5000
assert abs(sum(s["gpu_h"] for s in stats["sizes"]) - stats["gpu_h"]) < 1e-3
assert sum(v["jobs"] for v in stats["vcs"]) == 5000
assert abs(stats["busy_gpus"] - 0.9 * 256) < 0.1
P
fi

# Nothing is no number: no span, no gap, no duration.
printf 'num_gpu,submit_time,duration,vc\n1,0,,a\n1,0,,b\n' >same.csv
expect "statistics of nothing" 0 "^GPU time *0.0 GPU-hours$" "no duration" "$dlsim" trace stats same.csv
! grep -q nan "$dir/out" || fail "statistics that are no number"

# what a configuration may say of a trace (docs/config.md) these commands take, too
printf 'job_id,num_gpu,submit_time,duration\na,1,0,9\na,1,1,9\n' >twice.csv
expect "an id again" 4 - "allow_duplicate_ids" "$dlsim" trace stats twice.csv
expect "ids may repeat" 0 "^jobs *2$" - "$dlsim" trace stats --allow-duplicate-ids twice.csv
expect "so many" 0 "^jobs *1$" - "$dlsim" trace stats --max-jobs=1 twice.csv
echo "1 0 5 600 8 -1 -1 8 -1 -1 1 3 -1 2 4 -1 -1 -1" >log.swf
expect "processors" 2 - "swf_processor_is_gpu" "$dlsim" trace convert log.swf -o swf.csv
expect "processors are GPUs" 0 - - "$dlsim" trace convert --swf-processor-is-gpu log.swf -o swf.csv
echo '[{"status":"Pass","vc":"v","jobid":"a","attempts":[
  {"start_time":"2017-10-11 09:00:00","end_time":"2017-10-11 09:01:00","detail":[{"ip":"m","gpus":["g"]}]},
  {"start_time":"2017-10-11 09:03:00","end_time":"2017-10-11 09:04:00","detail":[{"ip":"m","gpus":["g"]}]}],
  "submitted_time":"2017-10-11 09:00:00","user":"u"}]' >log
expect "sum of attempts" 0 '"p50": 120,' - "$dlsim" trace stats --json log
expect "span of attempts" 0 '"p50": 240,' "gaps between attempts" "$dlsim" trace stats --json --philly-span log

# Memory in all of Slurm's units.
printf 'JobID|Submit|Start|End|AllocTRES\n1|1700000000|1700000000|1700010800|mem=1.5P,gres/gpu=1\n' >sacct
expect "petabytes" 0 "^1,1,0,10800,1610612736,0$" "Eligible" "$dlsim" trace convert sacct -o -

# Every state of a job in sacct(1) is known.
echo "JobID|Submit|Start|End|ElapsedRaw|State|AllocTRES" >sacct
i=0
for state in BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED REQUEUED RESIZING \
    REVOKED RUNNING SUSPENDED TIMEOUT PENDING "CANCELLED by 7"; do
    echo "$((i += 1))|2024-03-10T01:00:00|2024-03-10T01:00:00|2024-03-10T02:00:00|3600|$state|gres/gpu=1" >>sacct
done
expect "states" 0 '"failed": 2,' "Eligible" "$dlsim" trace stats --json sacct
! grep -q "not known: .*status" "$dir/err" && ! grep -q "^  status" "$dir/err" || fail "a state is not known"
for outcome in '"node_fail": 2' '"timeout": 2' '"killed": 3' '"unknown": 3'; do
    grep -q "$outcome" "$dir/out" || fail "states: $outcome"
done
# Suspended for an hour: no change of the clock where times are of UTC.
printf 'JobID|Submit|Start|End|ElapsedRaw|AllocTRES\n1|1700000000|1700000000|1700010800|7200|gres/gpu=1\n' >sacct
expect "suspended" 0 '"p50": 10800,' "Eligible" "$dlsim" trace stats --json sacct
expect "date of UTC" 0 "^time 0 *2023-11-14 22:13:20Z$" "Eligible" "$dlsim" trace stats sacct

# conversion: native to native is the identity; models come on request, the same for one seed
sample=traces/samples/philly_like_5000.csv
expect "convert" 0 - - "$dlsim" trace convert $sample -o again.csv
cmp again.csv $sample || fail "convert changed a native trace"
echo mine >kept.csv
for words in "convert $sample" "generate --jobs=40 --gpus=8 -q"; do
    # shellcheck disable=SC2086
    expect "a file that is there" 5 - "kept.csv: is there already (--force replaces it)" "$dlsim" trace $words -o kept.csv
    test "$(cat kept.csv)" = mine || fail "trace $words: replaced without --force"
    # shellcheck disable=SC2086
    expect "to a device" 0 - - "$dlsim" trace $words -o /dev/null
done
expect "replaced" 0 - - "$dlsim" trace generate --jobs=40 --gpus=8 -q -o kept.csv --force
expect "replaced" 0 - - "$dlsim" trace convert $sample -o kept.csv --force
cmp kept.csv $sample || fail "convert --force"
for file in a b; do
    expect "assign" 0 - - "$dlsim" trace convert $sample --assign=muri --seed=4 -o $file.csv
done
cmp a.csv b.csv || fail "assign is not reproducible"
head -3 a.csv | grep -q "model_name" || fail "assign added no models"
expect "assigned" 0 '"ASSIGNED_MODEL": 5000' "5000 jobs: model taken" \
    "$dlsim" trace stats --json a.csv

# queueing
expect "heavy" 0 - "300 or more jobs wait during" \
    "$dlsim" trace generate --jobs=3000 --gpus=300 --queueing=heavy --stamps=us -o heavy.csv
expect "gzip" 0 "^jobs *3000$" - bash -c "gzip -c heavy.csv >h.gz && '$dlsim' trace stats h.gz"
# "-" is the standard output, as --trace=- is the standard input.
expect "to a pipe" 0 "^jobs *40$" - bash -c "'$dlsim' trace generate --jobs=40 --gpus=8 -o - -q | tee piped.csv | '$dlsim' trace stats -"
expect "converted to a pipe" 0 "^job_id," - bash -c "'$dlsim' trace convert piped.csv -o -"
expect "full" 5 - "standard output" bash -c "'$dlsim' trace generate --jobs=40 --gpus=8 -o - -q >/dev/full"
test ! -e ./- || fail "a file called -"

exit $failed
