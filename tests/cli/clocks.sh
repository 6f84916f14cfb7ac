# SPDX-License-Identifier: GPL-3.0-or-later
# Clocks that jump (tests/support/jumping_clock.c), and files from the future and the past: what commands
# make is what they make otherwise, nobody waits, and a sweep trusts its locks and not the time.
. "$DLSIM_SOURCE/tests/support/cli.sh"
shim=$work/jumping.so
${CC:-cc} -O1 -shared -fPIC -o "$shim" "$source/tests/support/jumping_clock.c" 2>cc.txt || {
    echo "skipped: no C compiler"
    exit 77
}
if grep -q __asan_init "$dlsim"; then
    echo "skipped: a sanitizer comes first among libraries"
    exit 77
fi
LD_PRELOAD=$shim date -u +%Y >year.txt || fail "the library"
seen=$(for _ in 1 2 3; do LD_PRELOAD=$shim python3 -c 'import time
a = [time.time() for _ in range(9)]
b = [time.monotonic() for _ in range(9)]
print(min(y - x for x, y in zip(a, a[1:])) < -86400, b == sorted(b) and b[-1] - b[0] > 1)'; done | sort -u)
test "$seen" = "True True" || fail "the clocks do not jump: $seen"

# both WORDS...: in one/ as always, in other/ with such clocks; the same words are said.
both() {
    local code=0
    rm -rf one other
    mkdir one other
    (cd one && exec "$dlsim" "$@") >one.txt 2>err.txt </dev/null || fail "dlsim $*: $(cat err.txt)"
    (cd other && LD_PRELOAD=$shim exec timeout 120 "$dlsim" "$@") >other.txt 2>err.txt </dev/null || code=$?
    test $code -eq 0 || fail "dlsim $*: exit code $code with clocks that jump: $(cat err.txt)"
    checks=$((checks + 1))
}
jobs_of() { # without the header, in which the time stands
    "$dlsim" inspect "$1" --jobs=0 | grep -v -e '^wall time' -e '^simulated in'
}

quick="--config=$source/configs/quickstart.cfg"
both $quick --trace="$source/traces/samples/philly_like_5000.csv" -o r.h5 -q
cmp -s <(jobs_of one/r.h5) <(jobs_of other/r.h5) || fail "a run: $(diff <(jobs_of one/r.h5) <(jobs_of other/r.h5))"
"$dlsim" inspect other/r.h5 >said.txt || fail "inspect"
grep -E '^ *started_utc +(19[7-9]|20[0-3])[0-9]-' said.txt >year.txt || fail "started: $(cat said.txt)"
both $quick --trace="$sample" -o r.h5 --progress=always
grep -qE -- '-[0-9]+ (s|min|h)|nan|inf' err.txt && fail "a bar: $(cat err.txt)"
both trace convert "$sample" -o t.csv
both dataset build -o d.h5 --graphs=34 --samples=20 --groups=4 --features=total "--hardware=$source/configs/hardware" \
    --setting=V100-P1w2-ho-PCIe -q
cmp -s one/d.h5 other/d.h5 || fail "datasets differ"
cp one/d.h5 .
both train --dataset="$work/d.h5" --setting=V100-P1w2-ho-PCIe --arch=hidden=16 --epochs=3 --threads=1 -o w.h5 -q
cmp -s <("$dlsim" model show one/w.h5 | grep -vi second) <("$dlsim" model show other/w.h5 | grep -vi second) ||
    fail "trainings differ: $(diff <("$dlsim" model show one/w.h5) <("$dlsim" model show other/w.h5))"
printf 'num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n1,4,4,8,64\n' >spec.csv
printf 'job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n0,1,0,9,vgg16,60,0\n1,4,5,9,vgg16,60,0\n' >tf.csv
both tiresias --trace_file="$work/tf.csv" --cluster_spec="$work/spec.csv" --schedule=dlas-gpu --log_path=logs
diff -r one/logs other/logs >/dev/null || fail "Tiresias's tables"
from=$source/tests/slurm/policies
both import slurm --sacct="$from/sacct.txt.gz" --nodes="$from/nodes.txt" -o site
diff -r one/site other/site >/dev/null || fail "imports differ"
both perf record -o p.h5 --no-gpu --interval=5ms -- sleep 0.2
expect 0 perf analyze other/p.h5

# Sweeps: two at once, each with such a clock; then everything is from another century, and nothing is run again.
cat >sweep.cfg <<END
sweep: { base = "$source/configs/quickstart.cfg"; set = ("trace.path=$work/t.csv");
         axes = ({ key = "scheduler.restore_cost"; from = "0 s"; to = "60 s"; steps = 13; }); };
END
cp "$sample" t.csv
touch -d '2099-01-01' t.csv
for _ in 1 2; do
    LD_PRELOAD=$shim timeout 300 "$dlsim" sweep run sweep.cfg -o s -q -j 2 2>err.$_ &
done
wait -n && wait -n || fail "two sweeps at once: $(cat err.1 err.2)"
expect 0 sweep status sweep.cfg -o s
says out.txt "13 points, 13 finished"
find s -name '*.h5' -exec touch -d '1975-01-01' {} +
find s -name '*.h5' -printf '%p %i %T@\n' | sort >before.txt
touch -d '1971-01-01' sweep.cfg "$work/t.csv"
LD_PRELOAD=$shim expect 0 sweep run sweep.cfg -o s -q
find s -name '*.h5' -printf '%p %i %T@\n' | sort >after.txt
cmp -s before.txt after.txt || fail "points were run again"
test -z "$(find s -name '.*.h5.*' -o -name '*.lock')" || fail "something was left"
LD_PRELOAD=$shim expect 0 sweep merge sweep.cfg -o s
echo "$checks checks"
