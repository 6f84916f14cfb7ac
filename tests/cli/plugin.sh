# SPDX-License-Identifier: GPL-3.0-or-later
# A plug-in made against sim/include alone gives the digest of the built-in policies, with its options
# listed, checked and set like theirs.
. "$DLSIM_SOURCE/tests/support/cli.sh"
cc=${CC:-cc}
command -v "$cc" >/dev/null || {
    echo "no C compiler: skipped"
    exit 77
}

mkdir -p src/sched src/placement
cp "$source/tests/support/plugin_dlas.c" "$source/sim/sched/dlas_gpu.c" "$source/sim/sched/mlfq.c" \
    "$source/placement/consolidated.c" "$source/placement/fit.c" src
cp "$source/sim/sched/mlfq.h" src/sched
cp "$source/placement/fit.h" src/placement
"$cc" -std=c17 -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden -I"$source/sim/include" \
    -Isrc -o mine.so src/*.c || fail "building the plug-in"

expect 0 list schedulers --plugin=./mine.so
says out.txt "my-dlas"
for option in queue_limits promote_knob; do
    test "$(sed -n '/^my-dlas/,$p' out.txt | grep -c "^ *$option ")" -eq 1 || fail "$option is not listed"
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
    "$dlsim" --config=tight.cfg --trace="$sample" --json --quiet --plugin=./mine.so "$@" |
        grep -o '"digest": *"[0-9a-f]*"'
}
last=none
for options in "" "--set scheduler.queue_limits=[300.0,2000.0]" \
    "--set scheduler.queue_limits=[300.0,2000.0] --set scheduler.promote_knob=2.0"; do
    # shellcheck disable=SC2086
    built_in=$(digest --scheduler=dlas-gpu --placement=consolidated $options)
    # shellcheck disable=SC2086
    plugged=$(digest --scheduler=my-dlas --placement=my-consolidated $options)
    test -n "$built_in" || fail "no digest with $options"
    test "$built_in" = "$plugged" || fail "$options: $built_in built in, $plugged as a plug-in"
    test "$built_in" != "$last" || fail "$options: changes nothing"
    last=$built_in
    checks=$((checks + 3))
done

# The options are checked by the plug-in's own table.
expect 3 --config=tight.cfg --trace="$sample" --plugin=./mine.so --scheduler=my-dlas --set scheduler.slice=5
says err.txt "my-dlas has no such option"
expect 3 --config=tight.cfg --trace="$sample" --plugin=./mine.so --scheduler=my-dlas \
    --set scheduler.promote_knob=-1.0
says err.txt "promote_knob"
expect 3 --config=tight.cfg --trace="$sample" --scheduler=my-dlas
says err.txt "my-dlas"
echo "$checks checks"
