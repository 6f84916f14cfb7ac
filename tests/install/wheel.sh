#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The wheel in an empty environment, and nothing else: the README's lines, the program, a policy from the command
# line. Building it takes minutes and Debian's sources: it is done where DLSIM_TEST_WHEEL=1 asks for it, or
# DLSIM_WHEEL=FILE names one; else only whether it can be configured is seen. Usage: wheel.sh BUILD_DIR CC
set -eu
if [ "${DLSIM_SANITIZE:-0}" = 1 ]; then
    echo "skipped: a sanitized build"
    exit 77
fi
. "$DLSIM_SOURCE/tests/support/install.sh"
if [ "${DLSIM_TEST_WHEEL:-0}" != 1 ] && [ -z "${DLSIM_WHEEL:-}" ]; then
    cmake -S "$DLSIM_SOURCE" -B "$work/configured" -G Ninja -DCMAKE_BUILD_TYPE=Release -DDLSIM_PYTHON=ON -DDLSIM_WHEEL=ON \
        -DDLSIM_TESTS=OFF -DDLSIM_CUDA=OFF >"$work/log" 2>&1 || fail "a wheel cannot be configured: $(tail -20 "$work/log")"
    targets=$(sed -n 's/^build.targets = \[\(.*\)\]/\1/p' "$DLSIM_SOURCE/pyproject.toml" | tr -d '",')
    # shellcheck disable=SC2086 # words are targets
    { ninja -C "$work/configured" -t query $targets &&
        ninja -C "$work/configured" python/CMakeFiles/dlsim_in_wheel.dir/program.c.o; } >"$work/log" 2>&1 ||
        fail "a wheel's targets: $(tail -5 "$work/log")"
    echo "skipped: DLSIM_TEST_WHEEL=1 builds the wheel and tests it, DLSIM_WHEEL=FILE tests that one"
    exit 77
fi
wheel=${DLSIM_WHEEL:-}
if [ -z "$wheel" ]; then
    bash "$DLSIM_SOURCE/python/wheel.sh" "$1/wheel-work"
    wheel=$(ls "$1"/wheel-work/wheels/*.whl)
fi
test "$(stat -c %s "$wheel")" -lt 12000000 || fail "$wheel is larger than 12 MB"
case $wheel in
*-cp311-abi3-manylinux_*) ;;
*) fail "$wheel is not for every CPython from 3.11 on" ;;
esac

awk '/^```python$/ {block = ""; on = 1; next} /^```$/ {if (on && block ~ /import dlsim/) printf "%s", block; on = 0}
    on {block = block $0 "\n"}' "$DLSIM_SOURCE/README.md" >"$work/lines.py"
cd "$work"
TIMEFORMAT='%R %U %S'
{ time env -i PATH=/usr/bin:/bin HOME="$work" sh -ec "
    python3 -m venv fresh
    fresh/bin/pip install -q --no-index '$wheel'
    fresh/bin/python lines.py" >said 2>lines.err; } 2>took || fail "the README's lines: $(cat said lines.err)"
test "$(grep -c 'mean completion' said)" = 3 || fail "the README's lines say: $(cat said)"
while IFS= read -r line; do
    grep -qxF "    $line" "$DLSIM_SOURCE/README.md" || fail "the README does not say: $line"
done <said
read -r wall user system <took
echo "installed and run in $wall s of wall time, $user + $system s of processor time, $(stat -c %s "$wheel") bytes"
# 20 s on a machine that does nothing else; what else this one does is no matter.
awk "BEGIN { exit !($user + $system < 10) }" || fail "that is more than 10 s of processor time"

# No library of the machine but the C library's own, none that talks to a network.
package=$(fresh/bin/python -c 'import dlsim, os; print(os.path.dirname(dlsim.__file__))')
ldd "$package/lib/libdlsim.so.1" "$package"/*.abi3.so "$package/bin/dlsim" >libraries
if grep -E 'curl|ssl|crypto|not found|=> /(usr/)?lib/.*(hdf5|gsl|config|json|protobuf)' libraries; then
    fail "libraries of the machine"
fi

dlsim=$work/fresh/bin/dlsim
"$dlsim" --version >version
grep -q '^dlsim ' version || fail "--version"
test -e "$package/include/dlsim/run.h" || fail "no headers"
cat >mine.py <<'END'
class Mine:
    ageing = "time"
    def priority(self, job):
        return job.remaining
END
share=$package/share/dlsim
for scheduler in srtf py-mine; do
    "$dlsim" run --config="$share/configs/quickstart.cfg" --trace="$share/traces/samples/quick_60.csv" \
        --plugin=mine.py --scheduler=$scheduler -q --json >$scheduler.json || fail "--plugin=mine.py"
    grep -o '"digest": *"[^"]*"' $scheduler.json >$scheduler.digest
done
cmp srtf.digest py-mine.digest || fail "digests"
# The shipped inspector is found.
"$dlsim" predict --whatif --model=resnet50 --batch=32 --gpu=V100 --workers=2 --source=driple >predicted || fail "predict"
"$dlsim" --config="$share/configs/placement-study.cfg" --placement=driple --predictor=driple \
    --set trace.max_jobs=100 -q || fail "a run with the inspector"
# C programs find the library.
cat >program.c <<'END'
#include <dlsim/run.h>
#include <stdio.h>
int main(void) { return puts(dls_version()) < 0; }
END
"$2" -I"$package/include" program.c "$package/lib/libdlsim.so.1" -Wl,-rpath,"$package/lib" -Wl,--allow-shlib-undefined \
    -o program
./program >said || fail "a program in C"
echo "the wheel holds the package, the program, the library and their data"
