# SPDX-License-Identifier: GPL-3.0-or-later
# What is wrong with a sweep is said before anything runs, all of it, with its line.
. "$DLSIM_SOURCE/tests/support/cli.sh"
cp "$source/configs/quickstart.cfg" base.cfg
cp "$sample" jobs.csv

# bad TEXT AXES [REST]: a sweep with these axes is refused with this text; nothing is made.
bad() {
    printf 'sweep: {\n    base = "base.cfg";\n    set = ("trace.path=jobs.csv");\n    axes = (\n%s\n    );\n    %s\n};\n' \
        "$2" "${3-}" >bad.cfg
    expect 3 sweep run bad.cfg
    says err.txt "$1"
    test ! -e bad.sweep || fail "a folder was made for: $2"
}
bad "bad.cfg:5: unknown key 'scheduler.nmae': dlas-gpu has no such option (did you mean 'scheduler.name'?)" \
    '{ key = "scheduler.nmae"; values = ["fifo"]; }'
bad "bad.cfg:5: unknown key 'run.sed' (did you mean 'run.seed'?)" '{ key = "run.sed"; values = [1]; }'
bad "unknown scheduler 'srft' (did you mean 'srtf'?)" '{ key = "scheduler.name"; values = ["fifo", "srft"]; }'
bad "bad.cfg:5: 'values' is empty" '{ key = "scheduler.name"; values = (); }'
bad "unknown key 'vaules' of an axis" '{ key = "run.seed"; from = 1; to = 4; steps = 2; vaules = 3; }'
bad "an axis needs a 'key'" '{ values = [1, 2]; }'
bad "expected 'values', or both 'from' and 'to'" '{ key = "run.seed"; from = 1; }'
bad "needs 'steps'" '{ key = "run.seed"; from = 1; to = 9; }'
bad "'steps': expected an integer 2..1000000" '{ key = "run.seed"; from = 1; to = 9; steps = 1; }'
bad "'from' and 'to' are the same" '{ key = "run.seed"; from = 1; to = 1; steps = 3; }'
bad "above 0" '{ key = "scheduler.restore_cost"; from = "0 s"; to = "1 h"; steps = 3; scale = "log"; }'
bad "'scale' is" '{ key = "run.seed"; from = 1; to = 9; steps = 3; scale = "cubic"; }'
bad "'scheduler.name' takes no numbers" '{ key = "scheduler.name"; from = 1; to = 9; steps = 3; }'
bad "'to' " '{ key = "scheduler.restore_cost"; from = "0 s"; to = "9 GB"; steps = 3; }'
bad "a row is a list with a value for each of the 2 keys" \
    '{ keys = ["scheduler.name", "run.seed"]; values = (("fifo", 1), ("srtf")); }'
bad "a sample is" '{ sample = "halton"; points = 4; over = ({ key = "run.seed"; from = 1; to = 9; }); }'
bad "a dimension needs a 'key'" '{ sample = "lhs"; points = 4; over = ({ from = 1; to = 9; }); }'
bad "an axis is a group" '"scheduler.name"'
bad "'run.seed' is varied twice" '{ key = "run.seed"; values = [1, 2]; }, { key = "run.seed"; values = [3]; }'
bad "'run.seed' is varied twice: by this axis and by 'replicas'" '{ key = "run.seed"; values = [1, 2]; }' 'replicas = 3;'
bad "either 'replicas' or 'seeds'" '{ key = "scheduler.name"; values = ["fifo"]; }' 'replicas = 3; seeds = [1];'
bad "'replicas': expected an integer 1..1000000" '{ key = "scheduler.name"; values = ["fifo"]; }' 'replicas = 0;'
bad "a seed is an integer" '{ key = "scheduler.name"; values = ["fifo"]; }' 'seeds = [-1];'
bad "unknown key 'replcas' of 'sweep' (did you mean 'replicas'?)" '{ key = "scheduler.name"; values = ["fifo"]; }' 'replcas = 2;'
bad "more than a million points" \
    '{ key = "run.seed"; from = 1; to = 2000; steps = 2000; }, { key = "scheduler.restore_cost"; from = 0; to = 1; steps = 501; }'
bad "points 0 (fifo/consolidated) and 1 (fifo/consolidated) have the same configuration" \
    '{ key = "scheduler.name"; values = ["fifo", "fifo"]; }'
bad "have the same configuration" '{ key = "run.seed"; from = 1; to = 3; steps = 9; }'
bad "'results.path' is set" '{ key = "results.path"; values = ["a.h5", "b.h5"]; }'
bad "'name' is the beginning of a file's name" '{ key = "scheduler.name"; values = ["fifo"]; }' 'name = "a/b";'
bad "'baseline' is the label" '{ key = "scheduler.name"; values = ["fifo"]; }' 'baseline = 3;'
bad "'baseline': no run is called 'srtf', wholly or in part" '{ key = "scheduler.name"; values = ["fifo"]; }' 'baseline = ["fifo", "srtf"];'

# Several at once, in the order of the file.
bad "bad.cfg:7:" '{ key = "run.seed"; from = 1; to = 1; steps = 3; },
{ key = "scheduler.name"; values = []; },
{ sample = "sobol"; points = 0; over = (); }'
says err.txt "bad.cfg:5:"
says err.txt "bad.cfg:6:"

# Overrides of the command line are checked with the rest.
printf 'sweep: { base = "base.cfg"; axes = ({ key = "scheduler.name"; values = ["fifo"]; }); };\n' >good.cfg
expect 3 sweep run good.cfg
says err.txt "no trace"
expect 3 sweep run good.cfg --trace=jobs.csv --set scheduler.name=srtf
says err.txt "--set: 'scheduler.name' is an axis of the sweep"
printf 'sweep: { base = "base.cfg"; set = ("scheduler.name=srtf", "trace.path"); axes = (); };\n' >set.cfg
expect 3 sweep run set.cfg --trace=jobs.csv
says err.txt 'set.cfg:1: expected "key=value"'
expect 4 sweep run good.cfg --trace=missing.csv
says err.txt "missing.csv"
printf 'job_id\n1\n' >bad.csv
expect 4 sweep run good.cfg --trace=bad.csv
expect 3 sweep run good.cfg --trace=jobs.csv --replicas=3 --seed=9223372036854775806
says err.txt "good.cfg: 'replicas': 3 seeds from 'run.seed' (9223372036854775806) on exceed the largest, 9223372036854775807"
test ! -e good.sweep || fail "a folder was made"
expect 0 sweep run good.cfg --trace=jobs.csv -q
printf 'sweep: { base = "base.cfg"; axes = ({ key = "run.seed"; values = [1, 2]; }); };\n' >seeds.cfg
expect 3 sweep run seeds.cfg --trace=jobs.csv --replicas=2
says err.txt "'run.seed' is varied twice"

# The file itself.
expect 3 sweep run missing.cfg
says err.txt "missing.cfg"
expect 3 sweep run base.cfg
says err.txt "has no group 'sweep'"
printf 'sweep: { base = "missing.cfg"; };\n' >nobase.cfg
expect 3 sweep run nobase.cfg
says err.txt "missing.cfg"
printf 'schema_version = 1;\nsweep: { base = "base.cfg"; };\n' >both.cfg
expect 3 sweep run both.cfg --trace=jobs.csv
says err.txt "both.cfg:1:"
# A configuration with a sweep in it, and a single run of it.
{ cat base.cfg; printf 'sweep: { axes = ({ key = "scheduler.name"; values = ["fifo", "srtf"]; }); };\n'; } >own.cfg
expect 0 sweep run own.cfg --trace=jobs.csv -q
expect 0 --config=own.cfg --trace=jobs.csv -q
expect 0 config --check own.cfg

# The command line.
expect 2 sweep
expect 2 sweep run
expect 2 sweep rnu good.cfg
says err.txt "did you mean 'run'?"
expect 2 sweep run good.cfg more.cfg
expect 2 sweep run good.cfg --config=base.cfg
expect 2 sweep run good.cfg -j 0
expect 2 sweep run good.cfg --points=1-0
expect 2 sweep run good.cfg --points=-1
expect 2 sweep run good.cfg --points=1
says err.txt "there are 1 points"
mkdir empty
expect 1 sweep merge good.cfg --trace=jobs.csv -o empty
says err.txt "none of the 1 points is finished"
expect 0 sweep --help
for where in good.cfg good.cfg/under; do
    expect 5 sweep run good.cfg --trace=jobs.csv -o $where
done
expect 2 study good.cfg --schedulers=fifo
expect 2 study good.cfg base.cfg
echo "$checks checks"
