# SPDX-License-Identifier: GPL-3.0-or-later
# Every command that has --json prints JSON that a strict reader takes: also with names of files that
# are not UTF-8, and where a number has no bound.
. "$DLSIM_SOURCE/tests/support/cli.sh"
command -v python3 >/dev/null || {
    echo "skipped: no python3"
    exit 77
}

# strict: out.txt is one value of JSON, in UTF-8, without NaN and Infinity. What it holds is in $top.
strict() {
    python3 - "${1:-True}" <<'END' || fail "$2: $(head -c 1000 out.txt)"
import json, sys
def refuse(word):
    raise ValueError(word)
top = json.loads(open("out.txt", "rb").read().decode("utf-8"), parse_constant=refuse)
assert eval(sys.argv[1]), top
END
}
tested=
# json CHECK COMMAND...: the command with --json; CHECK is Python about `top`.
json() {
    local check=$1
    shift
    expect 0 "$@" --json
    strict "$check" "$*"
    tested="$tested $1${2:+ $2}"
}

odd=$(printf 'odd\377"\\\001')
cp "$sample" "$odd.csv"
common="--config=$source/configs/quickstart.cfg"
expect 0 "$common" --trace="$odd.csv" -o "$odd.h5" -q
json 'top["digest"]' run "$common" --trace="$odd.csv" -q
json 'top["path"] == "odd\\xff\"\\\x01.csv" and top["jobs"] == 60' trace stats "$odd.csv"
json 'len(top) == 1 and "xff" in top[0]["attributes"]["cmdline"]' inspect "$odd.h5"
json 'len(top) == 20' inspect "$odd.h5" --jobs
job=$(python3 -c 'import json; print(json.load(open("out.txt"))[0]["id"])')
json 'top["allocations"]' inspect "$odd.h5" --job="$job"
json 'top["runs"][0]["label"] == "odd\\xff\"\\\x01.h5"' compare "$odd.h5" "$odd.h5"
json 'len(top["runs"]) == 2' study "$common" --trace="$odd.csv" --schedulers=fifo,srtf -q
cat >"$odd.cfg" <<END
sweep: { base = "$source/configs/quickstart.cfg"; set = ("trace.path=$sample");
    axes = ({ key = "scheduler.name"; values = ("fifo"); }); };
END
expect 0 sweep run "$odd.cfg" -q -o sweep
json 'top["finished"] == 1' sweep status "$odd.cfg" -o sweep
json '{k["name"] for k in top if k["required"]} > {"schema_version"} and all(k["takes"] for k in top)' config
json '[k["policy"] for k in top if k["name"] == "scheduler.slice"] == ["gandiva"]' config
for what in schedulers placements predictors formats gpus assignments; do
    json 'all(x["name"] for x in top)' list $what
done
json 'top["version"]' version
json 'len(top) > 20 and all(c["summary"] for c in top)' help

# A policy whose option may be any number.
cc=${CC:-cc}
if command -v "$cc" >/dev/null; then
    cat >wide.c <<'END'
#include "dlsim/policy.h"
#include <math.h>
static const dls_option options[] = {{.name = "any", .type = DLS_OPT_F64, .def = "1", .unit = "",
    .min = -INFINITY, .max = INFINITY, .doc = "a number"}, {0}};
static dls_status pass(void *state, const dls_view *v, dls_actions *out, dls_error *err)
{
    (void)state; (void)v; (void)out; (void)err;
    return DLS_OK;
}
static const dls_sched_ops ops = {.abi = DLS_POLICY_ABI, .name = "wide", .summary = "wide",
    .options = options, .pass = pass};
static const dls_sched_ops *const scheds[] = {&ops, 0};
static const dls_plugin plugin = {.abi = DLS_POLICY_ABI, .scheds = scheds};
__attribute__((visibility("default"))) const dls_plugin *dls_plugin_entry(void) { return &plugin; }
END
    "$cc" -std=c17 -fPIC -shared -fvisibility=hidden -I"$source/sim/include" -o wide.so wide.c
    json '[o["max"] for s in top for o in s["options"] if s["name"] == "wide"] == [None]' \
        list schedulers --plugin=./wide.so
fi

expect 0 import slurm -q --sacct="$source/tests/slurm/builtin/sacct.txt.gz" \
    --nodes="$source/tests/slurm/builtin/nodes.txt" -o site
json 'top["grade"] in "ABCD"' fidelity site
json 'top["grade"] in "ABCD" and top["groups"]' whatif site

# The laboratory.
# all graphs of the zoo, which cli.graph builds under the sanitizers.
[ "${DLSIM_SANITIZE:-0}" = 1 ] && tested="$tested graph zoo" || json 'len(top) == 917' graph zoo
json 'top["nodes"] > 0' graph show lenet
expect 0 dataset build --force -o "$odd.h5" --graphs=60 --samples=20 --groups=8 --setting=V100-P1w2-ho-PCIe \
    --hardware="$source/configs/hardware" -q
json '"xff" in top["command"]' dataset show "$odd.h5"
expect 0 train --dataset="$odd.h5" --setting=V100-P1w2-ho-PCIe --arch=hidden=8 --epochs=2 -o w.h5 -q
json 'top["settings"][0]["inspector"]["nrmse"] > 0' evaluate --weights=w.h5 --dataset="$odd.h5"
expect 0 graph group lenet --weights=w.h5 -o g.h5
json 'len(top) == 1 and top[0]["iteration_s"] > 0' predict --weights=w.h5 --input=g.h5 -q
json 'top["answers"]' predict --whatif --model=lenet --source=operator
json 'len(top["groups"]) > 40 and top["left_out"] == []' evaluate --measured --sources=paleo
expect 0 perf record -q -o p.h5 --no-gpu --interval=10ms -- sleep 0.2
json 'top["exit_code"] == 0' perf analyze p.h5

# No command with --json was left out.
expect 0 help --json
python3 - "$tested" <<'END' || fail "left out, of $tested"
import json, sys
def walk(commands):
    for c in commands:
        if any(o["name"] == "json" for o in c["options"]):
            assert (" " + c["name"] + " ") in sys.argv[1] + " ", c["name"]
        walk(c["parts"])
walk(json.load(open("out.txt")))
END
echo "$checks checks"
