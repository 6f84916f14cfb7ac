# SPDX-License-Identifier: GPL-3.0-or-later
# A sweep that is killed or interrupted: points in flight are lost, nothing else, and it goes on.
. "$DLSIM_SOURCE/tests/support/cli.sh"

cat >sweep.cfg <<END
sweep: {
    base = "$source/configs/quickstart.cfg";
    set = ("trace.path=$source/traces/samples/philly_like_5000.csv");
    axes = ({ key = "scheduler.restore_cost"; from = "0 s"; to = "400 s"; steps = 401; });
};
END
finished() {
    find sweep.sweep -name '*.h5' 2>/dev/null | wc -l
}
# wait_for N: until N points are finished
wait_for() {
    for _ in $(seq 600); do
        test "$(finished)" -ge "$1" && return
        sleep 0.05
    done
    fail "$1 points are not finished in time"
}

# kill -9 of the whole: its workers go, too.
"$dlsim" sweep run sweep.cfg -q -j 3 >out.txt 2>err.txt &
pid=$!
wait_for 5
workers=
while test -z "$workers"; do # there may be none for a moment
    workers=$(ps -o pid= --ppid $pid || true)
    kill -0 $pid || fail "the sweep was over before it could be killed"
done
kill -9 $pid
wait $pid 2>/dev/null || true
for worker in $workers; do
    for _ in $(seq 100); do
        kill -0 "$worker" 2>/dev/null || break
        sleep 0.05
    done
    ! kill -0 "$worker" 2>/dev/null || fail "worker $worker outlives the sweep"
done
n=$(finished)
test "$n" -ge 5 && test "$n" -lt 401 || fail "$n points were finished when it was killed"
for file in $(find sweep.sweep -name '*.h5' | head -5); do
    expect 0 inspect "$file" # what is there is whole
done
find sweep.sweep -name '*.h5' -printf '%p %i %T@\n' | sort >before.txt
# A part and a lock that a killed worker may leave.
mkdir -p sweep.sweep/points/00
stale=sweep.sweep/points/00/00000000000000000000000000000000
part=$(dirname "$stale")/.$(basename "$stale").h5.abcdef
: >"$part"
: >"$stale.lock"
expect 1 sweep status sweep.cfg
says out.txt "401 points, $n finished, 0 running, 0 failed"

# A worker that is killed costs its point; the rest goes on.
"$dlsim" sweep run sweep.cfg -q -j 2 --points=100-180 >out.txt 2>err.txt &
pid=$!
killed=
for _ in $(seq 2000); do
    worker=$(ps -o pid= --ppid $pid | head -1 | tr -d ' ')
    if test -n "$worker" && kill -9 "$worker" 2>/dev/null; then
        killed=yes
        break
    fi
done
code=0
wait $pid || code=$?
test -n "$killed" || fail "no worker was there to be killed"
# The worker may have finished between the look and the blow.
if test $code -ne 0; then
    test $code -eq 1 || fail "exit code $code"
    says err.txt "1 of 81 points failed"
    says err.txt "killed by signal 9"
    expect 1 sweep status sweep.cfg
    says out.txt "killed by signal 9"
fi
test ! -e "$part" && test ! -e "$stale.lock" || fail "what a killed worker left is still there"

# Ctrl-C and kill: exit code 130, and the same command goes on. Background jobs of a script ignore
# SIGINT unless it is given back to them.
for signal in SIGINT SIGTERM; do
    python3 - "$dlsim" $signal <<'END' || fail "$signal"
import glob, signal, subprocess, sys, time
run = subprocess.Popen([sys.argv[1], "sweep", "run", "sweep.cfg", "-j2"], stderr=open("err.txt", "w"),
                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
count = lambda: len(glob.glob("sweep.sweep/points/*/*.h5"))
before = count()
while count() < before + 3:
    time.sleep(0.02)
run.send_signal(getattr(signal, sys.argv[2]))
code = run.wait(timeout=60)
assert code == 130, code
END
    says err.txt "interrupted"
    test "$(finished)" -lt 401 || fail "the sweep was over before it could be interrupted"
done

expect 0 sweep run sweep.cfg -q --points=0-199
expect 0 sweep status sweep.cfg --points=0-199
says out.txt "200 points, 200 finished"
find sweep.sweep -name '*.h5' -printf '%p %i %T@\n' | sort >after.txt
test -z "$(comm -23 before.txt after.txt)" || fail "finished points were run again: $(comm -23 before.txt after.txt | head -3)"
test -z "$(find sweep.sweep -name '.*.h5.*' -o -name '*.lock')" || fail "something was left"

# Killed at moments all over its time, again and again until it is over, from the start each time: what is there is whole,
# and in the end it is what a sweep is that nobody killed.
kills=${SWEEP_KILLS:-12}
cat >short.cfg <<END
sweep: { base = "$source/configs/quickstart.cfg"; set = ("trace.path=$sample");
         axes = ({ key = "scheduler.restore_cost"; from = "0 s"; to = "60 s"; steps = 24; }); };
END
points_of() { # digests, in order
    for file in "$1"/points/*/*.h5; do
        "$dlsim" inspect "$file" --jobs=0 | grep -v '^wall' || fail "$file"
    done
}
expect 0 sweep run short.cfg -q -j 2 -o whole
points_of whole >whole.txt
cut=0 begun=0
for ((k = 0; k < kills; k++)); do
    if test ! -e killed || test "$(find killed -name '*.h5' | wc -l)" -eq 24; then
        rm -rf killed
        begun=$((begun + 1))
    fi
    "$dlsim" sweep run short.cfg -q -j 2 -o killed 2>err.txt &
    sleep "$(printf '0.%03d' $((RANDOM % 300)))"
    if kill -9 $! 2>/dev/null; then
        cut=$((cut + 1))
    fi
    wait $! 2>/dev/null || :
    for file in $(find killed -name '*.h5' -newer whole.txt 2>/dev/null | head -3); do
        expect 0 inspect "$file"
    done
done
test $cut -gt 0 || fail "no sweep was killed"
expect 0 sweep run short.cfg -q -j 2 -o killed
points_of killed >killed.txt
cmp -s whole.txt killed.txt || fail "a sweep that was killed differs: $(diff whole.txt killed.txt | head -5)"
test -z "$(find killed -name '.*.h5.*' -o -name '*.lock')" || fail "something was left"
echo "$cut sweeps killed, begun anew $begun times"

# Two at once share the points and disturb nobody.
"$dlsim" sweep run sweep.cfg -q -j 1 --points=200-215 -o two &
other=$!
expect 0 sweep run sweep.cfg -q -j 1 --points=200-215 -o two
wait $other || fail "the other of two runs failed"
expect 0 sweep status sweep.cfg --points=200-215 -o two
echo "$checks checks"
