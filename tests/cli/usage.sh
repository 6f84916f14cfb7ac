# SPDX-License-Identifier: GPL-3.0-or-later
# Help, usage errors, suggestions, exit codes.
. "$DLSIM_SOURCE/tests/support/cli.sh"
config=$source/configs/quickstart.cfg

for help in --help -h help; do
    expect 0 $help
    says out.txt "Simulator:"
    says out.txt "Laboratory:"
    empty err.txt
done
# One version, which is CMakeLists.txt's.
expect 0 --version
version=$(sed -n 's/^project(dlsim VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
says out.txt "dlsim $version"
grep -qx "version: $version" "$source/CITATION.cff" || fail "CITATION.cff is of another version"
test "$(sed -n 's/^## \([0-9.]*\).*/\1/p' "$source/CHANGELOG.md" | head -1)" = "$version" ||
    fail "CHANGELOG.md begins with another version"
expect 2
says err.txt "Usage:"
empty out.txt

# Every command, and every part of one, explains itself and each of its options on stdout.
expect 0 help --json
python3 - >commands.txt <<'END' || fail "help --json"
import json
def walk(commands):
    for c in commands:
        print(c["name"] + "|" + " ".join(o["name"] for o in c["options"]))
        assert c["summary"] and all(o["help"] for o in c["options"]), c["name"]
        assert all(type(o["repeated"]) is bool for o in c["options"]), c["name"]
        walk(c["parts"])
walk(json.load(open("out.txt")))
END
test "$(wc -l <commands.txt)" -ge 20 || fail "too few commands: $(cat commands.txt)"
while IFS='|' read -r command options; do
    # shellcheck disable=SC2086
    expect 0 $command --help
    says out.txt "Usage: dlsim $command"
    empty err.txt
    for option in $options; do
        says out.txt "--$option"
    done
done <commands.txt
expect 0 help study
says out.txt "--schedulers"

# A value that is no number, no time, none of the choices or beyond the bounds is a usage error that
# names the option.
expect 0 help --json
python3 - >values.txt <<'END' || fail "help --json"
import json
def walk(commands):
    for c in commands:
        name = c["name"]
        chosen = [o for o in c["options"] if name.endswith(" --" + o["name"])] # by an option
        if chosen and chosen[0]["value"]:
            name += "=" + chosen[0]["value"].split("|")[0]
        for o in c["options"]:
            wrong = []
            if o in chosen:
                continue
            if o["type"] in ("integer", "number", "time"):
                wrong = ["1x", "-1e300"] + (["%d0" % o["max"]] if o["type"] == "integer" else [])
            elif o["type"] == "choice" or "|" in o["value"]:
                wrong = ["nonesuch", ""]
            for value in wrong:
                print(name + "|" + o["name"] + "|" + value)
        walk(c["parts"])
walk(json.load(open("out.txt")))
END
test "$(wc -l <values.txt)" -gt 150 || fail "too few values: $(wc -l <values.txt)"
# One function reads them all: under the sanitizers, which look at that function, every eighth.
test "${DLSIM_SANITIZE:-0}" = 0 || sed -i -n '1~8p' values.txt
while IFS='|' read -r command option value; do
    # shellcheck disable=SC2086
    expect 2 $command --"$option=$value"
    says err.txt "option '--$option' is \"$value\": expected "
done <values.txt

# Mistyped words get a suggestion, on stderr, with a way to help.
expect 2 rn
says err.txt "did you mean 'run'?"
says err.txt "Try 'dlsim --help'."
expect 2 --confg=x
says err.txt "did you mean '--config'?"
says err.txt "Try 'dlsim run --help'."
expect 2 study --config="$config" --trace="$sample" --schedulrs=fifo
says err.txt "did you mean '--schedulers'?"
expect 2 list scheduler
says err.txt "did you mean 'schedulers'?"
expect 2 config --explain scheduler.restore_cots
says err.txt "did you mean 'scheduler.restore_cost'?"
expect 3 --config="$config" --trace="$sample" --scheduler=dlas_gpu
says err.txt "did you mean 'dlas-gpu'?"
# What others call it.
for pair in FCFS=fifo easy_bf=easy las=dlas-gpu max_min_fairness=gavel-las SRPT=srtf; do
    expect 3 --config="$config" --trace="$sample" --scheduler="${pair%=*}"
    says err.txt "did you mean '${pair#*=}'?"
done
expect 3 --config="$config" --trace="$sample" --placement=bestfit
says err.txt "did you mean 'consolidated'?"
expect 3 --config="$config" --trace="$sample" --scheduler=bestfit
grep -q "did you mean" err.txt && fail "a placement suggested as a scheduler"
expect 3 --config="$config" --trace="$sample" --placement=consolidate
says err.txt "did you mean 'consolidated'?"
expect 3 --config="$config" --trace="$sample" --trace-format=nativ
says err.txt "did you mean 'native'?"
expect 3 --config="$config" --trace="$sample" --set scheduler.queue_limit=5
says err.txt "did you mean 'scheduler.queue_limits'?"
expect 3 --config="$config" --trace="$sample" --set sheduler.name=fifo
says err.txt "did you mean 'scheduler.name'?"

# Options: missing values, values too many, ambiguous and unknown ones, stray words.
expect 2 -x
says err.txt "unknown option '-x'"
expect 2 -c
says err.txt "option '-c' needs a value"
expect 2 --config
says err.txt "option '--config' needs a value"
expect 2 --config="$config" --trace
says err.txt "option '--trace' needs a value"
expect 2 --quiet=3
says err.txt "option '--quiet' takes no value"
expect 2 run --se=3
says err.txt "ambiguous"
expect 2 --config="$config" --trace="$sample" stray
says err.txt "unexpected word 'stray'"
expect 2 --trace="$sample"
says err.txt "no configuration"
expect 2 --config="$config"
says err.txt "no trace"
expect 2 --config="$config" --trace="$sample" --progress=often
says err.txt "auto, always or never"
expect 2 --config="$config" --trace="$sample" --progress=allways
says err.txt "did you mean 'always'?"
expect 2 config
expect 2 config --defaults --markdown
expect 2 config --check
expect 2 list
expect 2 list gpus formats
expect 2 study --config="$config" --trace="$sample"
says err.txt "no schedulers"
expect 2 study --config="$config" --trace="$sample" --schedulers=fifo,,srtf
expect 2 version --jsn
says err.txt "did you mean '--json'?"

# An option of another verb, or of another form of the command, is refused and not passed over; so is an empty value, such as
# that of a variable that is not set.
while IFS='|' read -r of words; do
    # shellcheck disable=SC2086
    expect 2 $words
    says err.txt "goes $of"
done <<'END'
with show, not with 'zoo'|graph zoo --dot=x
with zoo, import, group, not with 'show'|graph show resnet50 -o x
with random, not with 'show'|model show x --seed=3
with step, profile, not with 'list'|operators list --gpus=3
with analyze, not with 'bench'|perf bench --json
with build, not with 'facts'|dataset facts --labels=x
with slurm, dcgm, not with 'kubernetes'|import kubernetes --sacct=x --objects=x -o x
with merge, not with 'run'|sweep run x --force
with plan, run, status, merge, not with 'submit'|sweep submit x --points=1
with --check, --resolve|config --defaults --set=run.seed=1
with --perfetto|export --csv x --from=1d
with --csv, --arrow|export --swf x --table=series
with --target|whatif x --vary=y
with --json|evaluate --measured --details
without --fabric|operators step --model=lenet --gpu=V100 --gpus=8 --fabric=nvswitch --nodes=2
without --servers|operators step --model=lenet --gpu=V100 --servers=1 --buckets
END
expect 0 config --resolve "$config" --set=run.seed=3
says out.txt "seed = 3;"
for words in "run --output=" "trace stats --format=" "run --set=" "study --schedulers=" "import slurm --sacct="; do
    # shellcheck disable=SC2086
    expect 2 $words
    says err.txt ' is "": expected '
done

# What contradicts itself, and what could not be shown when all has run.
expect 0 --config="$config" --trace="$sample" -q -o run.h5
for words in "inspect run.h5 --job=1 --jobs=3" "inspect run.h5 --config --json" "export --perfetto run.h5 --from=2d --until=1d" \
    "report run.h5 -o run.pdf" "compare run.h5 run.h5 -o run.jpg"; do
    # shellcheck disable=SC2086
    expect 2 $words
    empty out.txt
done
test ! -e run.pdf || fail "a page called .pdf"
expect 2 study --config="$config" --trace="$sample" --schedulers=fifo,srtf --baseline=fifo/consolidatd -o folder
says err.txt "no run is called 'fifo/consolidatd', wholly or in part (did you mean 'fifo/consolidated'?)"
test ! -e folder || fail "a study ran before its baseline was looked for"

# Exit codes by kind.
expect 3 --config=nowhere.cfg --trace="$sample"
says err.txt "nowhere.cfg"
expect 3 --config="$work" --trace="$sample"
says err.txt "is a directory"
expect 4 --config="$config" --trace=nowhere.csv
says err.txt "nowhere.csv"
expect 3 --config="$config" --trace="$sample" --seed=abc --until=soon --set x
says err.txt "--seed"
says err.txt "--until"
says err.txt "not key=value"
says err.txt "3 problems"
expect 5 --config="$config" --trace="$sample" -o nowhere/run.h5
says err.txt "nowhere"
empty out.txt
"$dlsim" list gpus >/dev/full 2>err.txt && fail "a full disk behind stdout went unnoticed"
says err.txt "standard output could not be written"
python3 - "$dlsim" <<'END' || fail "a pipe that nobody reads"
import os, subprocess, sys
read, write = os.pipe()
os.close(read)
done = subprocess.run([sys.argv[1], "list", "gpus"], stdout=write, stderr=subprocess.PIPE)
assert (done.returncode, done.stderr) == (5, b""), done
END

# Data is on stdout and parses.
for what in schedulers placements formats gpus assignments; do
    expect 0 list $what --json
    python3 -c 'import json, sys; assert len(json.load(open("out.txt"))) >= 1' || fail "list $what --json"
    expect 0 list $what
done
expect 0 list schedulers
says out.txt "dlas-gpu"
says out.txt "default 3250,7200"
expect 0 version --json
python3 -c 'import json; v = json.load(open("out.txt")); assert v["version"] and v["hdf5"]' || fail version
expect 0 --version
says out.txt "dlsim "

# To start costs little: processor time (what else the machine does counts for little), the least of ten.
if [ "${DLSIM_SANITIZE:-0}" = 0 ]; then
    python3 - "$dlsim" >start.txt <<'END' || fail "version takes 10 ms of processor time or more: $(cat start.txt)"
import os, sys
def took_ms():
    pid = os.posix_spawn(sys.argv[1], [sys.argv[1], "version"], os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, used = os.wait4(pid, 0)
    assert status == 0
    return 1e3 * (used.ru_utime + used.ru_stime)
least_ms = min(took_ms() for _ in range(10))
print(least_ms)
sys.exit(least_ms >= 10)
END
    checks=$((checks + 1))
fi

# What is there is replaced with --force alone, whatever the command, and refused before anything is done.
expect 0 help --json
python3 - <<'END' || fail "help --json"
import json
def walk(commands):
    for c in commands:
        file = {"output", "rows", "checkpoint", "curves", "dot", "plot", "file"} & {
            o["name"] for o in c["options"] if o["value"] not in (None, "FOLDER")}
        assert not file or "force" in {o["name"] for o in c["options"]} or c["name"] == "sweep", c["name"]
        walk(c["parts"])
walk(json.load(open("out.txt")))
END
mkdir -p kept
cd kept
echo mine >it.h5
cp it.h5 perf.h5
cp it.h5 report.html
while read -r words; do
    # shellcheck disable=SC2086
    expect 5 $words
    says err.txt "is there already (--force replaces it)"
    test "$(cat it.h5 perf.h5 report.html)" = "$(printf 'mine\nmine\nmine')" || fail "$words replaced a file"
done <<'END'
trace convert x.csv -o it.h5
trace generate -o it.h5
export --csv x.h5 -o it.h5
compare x.h5 -o report.html
report x.h5
graph zoo lenet -o it.h5
graph import x.pb -o it.h5
graph show lenet --dot=it.h5
graph group lenet -o it.h5
model random -o it.h5
model import x.h5 -o it.h5
dataset build -o it.h5
train --dataset=x.h5 --setting=x -o it.h5
train --dataset=x.h5 --setting=x -o y.h5 --curves=it.h5
train --dataset=x.h5 --setting=x -o y.h5 --checkpoint=it.h5
train --baseline=justus --dataset=x.h5 -o it.h5
evaluate --weights=x.h5 --dataset=x.h5 --rows=it.h5
evaluate --measured -o it.h5
predict --weights=x.h5 --input=x.h5 -o it.h5
perf record -- false
perf import x.csv -o it.h5
perf analyze x.h5 --plot=it.h5
operators calibrate -o it.h5
operators profile --model=lenet --gpu=V100 -o it.h5
operators fit-kernels x.csv -o it.h5
END
expect 0 graph zoo lenet -o it.h5 --force
expect 0 graph show it.h5
expect 5 graph zoo lenet -o . --force
says err.txt "is there and not a file"
expect 2 graph zoo lenet -o -
says err.txt "not to standard output"
expect 0 trace convert "$sample" -o /dev/null
cd ..

# Colour: never into a pipe, always when asked, not with NO_COLOR.
expect 0 list gpus
! grep -q "$(printf '\033')" out.txt || fail "colour in a pipe"
expect 0 list gpus --color=always
grep -q "$(printf '\033')" out.txt || fail "--color=always has no colour"
echo "$checks checks"
