# SPDX-License-Identifier: GPL-3.0-or-later
# Every scheduler and every placement, made as one plug-in against sim/include alone, gives the digest of
# the built-in one, with its options listed, checked and set like theirs. What several policies share is
# compiled in with them.
. "$DLSIM_SOURCE/tests/support/cli.sh"
cc=${CC:-cc}
command -v "$cc" >/dev/null || {
    echo "skipped: no C compiler"
    exit 77
}

mkdir src
cp -r "$source/sim/sched" "$source/placement" src

# all KIND TYPE FOLDER: the plug-in's list of that kind, each policy under the name my-<name>.
all() {
    local symbol symbols
    symbols=$(grep -ho "^const $2 $2_[a-z0-9_]*" src/"$3"/*.c | cut -d' ' -f3)
    for symbol in $symbols; do
        echo "extern const $2 $symbol;"
    done
    echo "static $2 $1[64];"
    echo "static const $2 *$1_list[65];"
    echo "static void fill_$1(void) { int n = 0;"
    for symbol in $symbols; do
        echo "put($symbol.name, $1_name[n]); $1[n] = $symbol; $1[n].name = $1_name[n];" \
            "$1_list[n] = &$1[n]; n++;"
    done
    echo "}"
}
{
    cat <<'END'
#include "dlsim/policy.h"
#include <stdio.h>
static char scheds_name[64][64], placements_name[64][64];
static void put(const char *name, char out[64]) { snprintf(out, 64, "my-%s", name); }
END
    all scheds dls_sched_ops sched
    all placements dls_placement_ops placement
    cat <<'END'
DLS_API const dls_plugin *dls_plugin_entry(void);
const dls_plugin *dls_plugin_entry(void)
{
    static const dls_plugin plugin = {DLS_POLICY_ABI, scheds_list, placements_list};
    fill_scheds();
    fill_placements();
    return &plugin;
}
END
} >src/plugin.c
"$cc" -std=c17 -O0 -Wall -Wextra -Wno-unused-parameter -Werror -fPIC -shared -fvisibility=hidden \
    -I"$source/sim/include" -Isrc -o mine.so src/plugin.c src/sched/*.c src/placement/*.c -lm || fail "building the plug-in"

expect 0 list schedulers --plugin=./mine.so
says out.txt "my-dlas-gpu"
for option in queue_limits promote_knob; do
    test "$(sed -n '/^my-dlas-gpu/,/^my-[e-z]/p' out.txt | grep -c "^ *$option ")" -eq 1 || fail "$option is not listed"
done
expect 0 list placements --plugin=./mine.so
says out.txt "my-consolidated"

# 16 GPUs for 60 jobs of up to 8: queues, demotions, preemptions.
cat >tight.cfg <<'END'
schema_version = 1;
cluster: { nodes = ({ count = 4; gpus = 4; gpu_type = "V100"; rack_size = 2; }); };
scheduler: { restore_cost = "30 s"; };
END
digest() {
    "$dlsim" --config=tight.cfg --trace="$sample" "$@" --json --quiet --plugin=./mine.so |
        grep -o '"digest": *"[0-9a-f]*"'
}
last=none
for options in "" "--set scheduler.queue_limits=[300.0,2000.0]" \
    "--set scheduler.queue_limits=[300.0,2000.0] --set scheduler.promote_knob=2.0"; do
    # shellcheck disable=SC2086
    built_in=$(digest --scheduler=dlas-gpu --placement=consolidated $options)
    # shellcheck disable=SC2086
    plugged=$(digest --scheduler=my-dlas-gpu --placement=my-consolidated $options)
    test -n "$built_in" || fail "no digest with $options"
    test "$built_in" = "$plugged" || fail "$options: $built_in built in, $plugged as a plug-in"
    test "$built_in" != "$last" || fail "$options: changes nothing"
    last=$built_in
    checks=$((checks + 3))
done

# Every policy. The placements in a world where it matters, with all that they may ask.
names() {
    "$dlsim" list "$1" --json --plugin=./mine.so | grep -o '"name": *"my-[^"]*"' | cut -d'"' -f4 | sed 's/^my-//'
}
same() {
    local built_in plugged what=$1 name=$2
    shift 2
    built_in=$(digest "--$what=$name" "$@")
    plugged=$(digest "--$what=my-$name" "$@")
    test -n "$built_in" || fail "no digest of $name"
    test "$built_in" = "$plugged" || fail "$what $name: $built_in built in, $plugged as a plug-in"
    echo "$built_in" >>"$what.txt"
    checks=$((checks + 1))
}
for name in $(names schedulers); do
    same scheduler "$name"
done
cp -r "$source/configs" "$source/traces" .
for name in $(names placements); do
    same placement "$name" --config=configs/placement-study.cfg \
        --trace=traces/samples/philly_like_5000.csv --set trace.max_jobs=800
done
for what in scheduler placement; do
    test "$(wc -l <$what.txt)" -ge 13 || fail "only $(wc -l <$what.txt) ${what}s as plug-ins"
    test "$(sort -u $what.txt | wc -l)" -ge 9 || fail "digests of ${what}s hardly differ"
done

# The options are checked by the plug-in's own table.
expect 3 --config=tight.cfg --trace="$sample" --plugin=./mine.so --scheduler=my-dlas-gpu --set scheduler.slice=5
says err.txt "my-dlas-gpu has no such option"
expect 3 --config=tight.cfg --trace="$sample" --plugin=./mine.so --scheduler=my-dlas-gpu \
    --set scheduler.promote_knob=-1.0
says err.txt "promote_knob"
expect 3 --config=tight.cfg --trace="$sample" --scheduler=my-dlas-gpu
says err.txt "my-dlas-gpu"

# A policy that ends the program, or fails without a word, ends as an error.
cat >rude.c <<'END'
#include "dlsim/policy.h"
#include <stdlib.h>
#include <string.h>
static const dls_option options[] = {{.name = "how", .type = DLS_OPT_STR, .def = "exit", .unit = "",
                                      .doc = "how", .choices = "early|exit|silent|spin|loop|never"}, {0}};
struct rude { const char *how; };
static dls_status init(void *state, const dls_view *v, const dls_option_value *values, dls_error *err)
{
    (void)v; (void)err;
    ((struct rude *)state)->how = values[0].s;
    if (strcmp(values[0].s, "early") == 0) {
        exit(0);
    }
    for (volatile int on = strcmp(values[0].s, "never") == 0; on;) {
    }
    return DLS_OK;
}
static dls_status pass(void *state, const dls_view *v, dls_actions *out, dls_error *err)
{
    const struct rude *r = state;
    (void)err;
    dls_act_wake(out, v->now_us + 1);
    if (strcmp(r->how, "exit") == 0) {
        exit(0);
    }
    for (volatile int on = strcmp(r->how, "loop") == 0; on;) {
    }
    return strcmp(r->how, "silent") == 0 ? DLS_ENOMEM : DLS_OK;
}
static const dls_sched_ops ops = {.abi = DLS_POLICY_ABI, .name = "rude", .summary = "rude",
    .options = options, .state_bytes = sizeof(struct rude), .init = init, .pass = pass};
static const dls_sched_ops *const scheds[] = {&ops, 0};
static const dls_plugin plugin = {.abi = DLS_POLICY_ABI, .scheds = scheds};
__attribute__((visibility("default"))) const dls_plugin *dls_plugin_entry(void) { return &plugin; }
END
"$cc" -std=c17 -Og -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden -I"$source/sim/include" \
    -o rude.so rude.c || fail "building the rude plug-in"
for how in early:70 exit:70 silent:1 spin:1; do
    expect "${how#*:}" --config=tight.cfg --trace="$sample" --plugin=./rude.so --scheduler=rude \
        --set "scheduler.how=${how%:*}" --output=rude.h5
    says err.txt "rude"
    test ! -e rude.h5 || fail "$how: a results file"
done
expect 70 --config=tight.cfg --trace="$sample" --plugin=./rude.so --scheduler=rude --set scheduler.how=loop \
    --output=rude.h5 --watchdog=200ms
says err.txt "scheduler 'rude' or placement 'consolidated' does not return: 1,024 instants took more than 0.2 s"
expect 70 --config=tight.cfg --trace="$sample" --plugin=./rude.so --scheduler=rude --set scheduler.how=never \
    --output=rude.h5 --watchdog=200ms
says err.txt "scheduler 'rude' or placement 'consolidated' does not return: the set-up took more than 0.2 s"
test ! -e rude.h5 || fail "a results file of a policy that does not return"
expect 0 --config="$source/configs/quickstart.cfg" --trace="$sample" --watchdog=1min
# A plug-in of the interface before this one, and of the next: refused before anything of it is called.
for version in 2 4; do
    mkdir -p headers$version
    cp -r "$source/sim/include/dlsim" headers$version
    sed -i "s/#define DLS_POLICY_ABI .*/#define DLS_POLICY_ABI ${version}u/" headers$version/dlsim/policy.h
    "$cc" -std=c17 -Og -fPIC -shared -fvisibility=hidden -Iheaders$version -o other.so rude.c ||
        fail "building the plug-in of another interface"
    expect 4 list schedulers --plugin=./other.so
    says err.txt "other.so"
    says err.txt "made for policy ABI $version, this is 3"
done
echo "$checks checks"
