# SPDX-License-Identifier: GPL-3.0-or-later
# A finished point is found again only if nothing that its result follows from has changed: the
# program, plug-ins, tables that nobody named, recorded predictions, weights. A point's file says
# whose it is, and what lies under its name by mistake is not taken for it.
. "${DLSIM_SOURCE:?}/tests/support/cli.sh"
cc=${CC:-cc}

# base KEYS...: the configuration
base() {
    cat >base.cfg <<END
schema_version = 1;
cluster: { nodes = ({ count = 2; gpus = 4; gpu_type = "V100"; }); };
trace: { path = "$sample"; assign = "zoo"; max_jobs = 12; };
$*
END
}
sweep() { # sweep VALUES: one of the restore cost
    cat >sweep.cfg <<END
sweep: { base = "base.cfg"; axes = ({ key = "scheduler.restore_cost"; values = [$1]; }); };
END
}
ids() {
    expect 0 sweep plan sweep.cfg -q "$@"
    sed 1d out.txt | sed 's/.*,//'
}
# changed WHAT: no id is as in before.txt
changed() {
    local what=$1
    shift
    ids "$@" >after.txt
    test -s after.txt && test -s before.txt || fail "$what: no ids"
    test "$(cat before.txt after.txt | sort | uniq -d | wc -l)" -eq 0 || fail "$what: an id is as before"
    cp after.txt before.txt
}
same() {
    ids >after.txt
    cmp before.txt after.txt || fail "$1: the ids are others"
}
sweep '"0 s", "9 s"'

# ---- a plug-in that is built again -----------------------------------------------------------------
plugin() { # plugin SCHEDULER: mine.so has it under the name "mine"; fifo refuses to be begun twice in a process
    cat >entry.c <<'END'
#include "dlsim/policy.h"
extern const dls_sched_ops POLICY;
static dls_status once(void *state, const dls_view *view, const dls_option_value *values, dls_error *err)
{
    static int begun;
    (void)state, (void)view, (void)values, (void)err;
    return begun++ ? DLS_ERUN : DLS_OK;
}
DLS_API const dls_plugin *dls_plugin_entry(void);
const dls_plugin *dls_plugin_entry(void)
{
    static dls_sched_ops sched;
    static const dls_sched_ops *const scheds[] = {&sched, NULL};
    static const dls_plugin plugin = {.abi = DLS_POLICY_ABI, .scheds = scheds};
    sched = POLICY;
    sched.name = "mine";
    sched.init = sched.init ? sched.init : once;
    return &plugin;
}
END
    "$cc" -std=c17 -O2 -fPIC -shared -fvisibility=hidden -I"$source/sim/include" -I"$source/sim" \
        -DPOLICY="dls_sched_ops_$1" -o mine.so entry.c "$source/sim/sched/${2:-$1}.c" || fail "plug-in $1"
}
if command -v "$cc" >/dev/null; then
    base 'scheduler: { name = "mine"; };'
    plugin fifo
    expect 0 sweep run sweep.cfg -q -j 1 --plugin=./mine.so
    for f in sweep.sweep/points/*/*.h5; do
        grep -qa 'dlsim --config=base.cfg --plugin=./mine.so --set' "$f" || fail "$f: no command with its plug-in"
    done
    ids --plugin=./mine.so >before.txt
    cp before.txt fifo.txt
    plugin srtf shortest
    changed "another plug-in" --plugin=./mine.so
    expect 1 sweep status sweep.cfg --plugin=./mine.so
    says out.txt "2 points, 0 finished, 0 running, 0 failed, 2 missing"
    plugin fifo
    ids --plugin=./mine.so >after.txt
    cmp fifo.txt after.txt || fail "the first plug-in, built again, has other ids"
    # One that ends the process has run no point, whatever it says.
    cat >end.c <<'END'
#include <unistd.h>
#include "dlsim/policy.h"
static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    (void)state, (void)view, (void)values, (void)err;
    _exit(0);
}
static dls_status pass(void *state, const dls_view *view, dls_actions *out, dls_error *err)
{
    (void)state, (void)view, (void)out, (void)err;
    return DLS_OK;
}
const dls_sched_ops dls_sched_ops_end = {
    .abi = DLS_POLICY_ABI, .name = "end", .summary = "ends", .init = init, .pass = pass};
END
    "$cc" -std=c17 -O2 -fPIC -shared -fvisibility=hidden -I"$source/sim/include" \
        -DPOLICY=dls_sched_ops_end -o ends.so entry.c end.c || fail "plug-in end"
    expect 1 sweep run sweep.cfg -q -o ends --plugin=./ends.so
    says err.txt "2 of 2 points failed"
    says err.txt "ended without a result, exit code 0"
    # One that is loaded and not used is nothing to the point.
    base 'scheduler: { name = "srtf"; };'
    ids >before.txt
    ids --plugin=./mine.so >after.txt
    cmp before.txt after.txt || fail "a plug-in that is not used is in the ids"
fi

# ---- the program -----------------------------------------------------------------------------------
base
ids >before.txt
cp "$dlsim" other
printf 'x' >>other
./other sweep plan sweep.cfg -q | sed 1d | sed 's/.*,//' >after.txt
test -s after.txt || fail "the other program does not run"
test "$(cat before.txt after.txt | sort | uniq -d | wc -l)" -eq 0 || fail "another program has the same ids"
cp "$dlsim" copy
./copy sweep plan sweep.cfg -q | sed 1d | sed 's/.*,//' | cmp - before.txt ||
    fail "a copy of the program has other ids"

# ---- tables and weights that nobody names ------------------------------------------------------------
mkdir -p configs predictor/inspectors
cp -r "$source/configs/hardware" configs
cp "$source/predictor/inspectors/relative.h5" predictor/inspectors
base 'perf: { model = "operator"; };'
expect 0 sweep run sweep.cfg -q
ids >before.txt
base "perf: { model = \"operator\"; hardware = \"$source/configs/hardware\"; };"
same "the same tables by name"
base 'perf: { model = "operator"; };'
echo 'gpus = (;' >>configs/hardware/gpus.cfg
changed "a broken gpus.cfg"
expect 1 sweep run sweep.cfg -q
says err.txt "2 of 2 points failed"
cp "$source/configs/hardware/gpus.cfg" configs/hardware
for file in links.cfg operator.cfg; do
    ids >before.txt
    echo '# another' >>configs/hardware/$file
    changed "$file"
done
base 'predictor: { source = "driple"; };'
ids >before.txt
printf 'x' >>predictor/inspectors/relative.h5
changed "other shipped weights"
cp "$source/predictor/inspectors/relative.h5" mine.h5
base 'predictor: { source = "driple"; weights = "mine.h5"; };'
ids >before.txt
printf 'x' >>mine.h5
changed "other weights by name"
# A folder of measurements counts with all that is below it.
mkdir -p table/app
printf 'x\n' >table/app/placements.csv
base 'perf: { model = "table"; table = "table"; };'
ids >before.txt
printf 'y\n' >table/app/placements.csv
changed "a file two folders down"
# What only saves time is no input.
base
ids >before.txt
base 'predictor: { cache = "answers"; };'
same "a cache"

# ---- recorded predictions, relative to the file that names them ----------------------------------------
predictions() {
    base "scheduler: { name = \"easy\"; estimates = \"predictor\"; };
          predictor: { source = \"operator\"; predictions = \"$1\"; };"
}
rm -r configs predictor
mkdir elsewhere
predictions "record:said"
(cd elsewhere && "$dlsim" --config=../base.cfg -q) || fail "a recording"
test -s said || fail "the recording is not beside the configuration"
predictions "replay:said"
(cd elsewhere && "$dlsim" --config=../base.cfg -q) || fail "a replay from another folder"
checks=$((checks + 2))
predictions "record:said"
expect 3 sweep run sweep.cfg -q -o recorded
says err.txt "predictor.predictions: points of a sweep are not recorded"
predictions "replay:said"
expect 0 sweep run sweep.cfg -q -o replayed
ids >before.txt
(cd elsewhere && "$dlsim" sweep plan ../sweep.cfg -q) | sed 1d | sed 's/.*,//' | cmp - before.txt ||
    fail "the ids depend on the current folder"
echo garbage >said
changed "another recording"
expect 1 sweep run sweep.cfg -q -o replayed
says err.txt "2 of 2 points failed"

# ---- whose a file is -----------------------------------------------------------------------------------
base
file() { # file POINT: of the point
    local id
    id=$("$dlsim" sweep plan sweep.cfg -q | sed 1d | sed -n "$(($1 + 1))s/.*,//p")
    echo "sweep.sweep/points/${id:0:2}/$id.h5"
}
expect 0 sweep run sweep.cfg -q
cp "$(file 0)" whole.h5
for wrong in empty foreign copied cut; do
    case $wrong in
    empty) : >"$(file 0)" ;;
    foreign) cp "$source/predictor/inspectors/relative.h5" "$(file 0)" ;;
    copied) cp "$(file 1)" "$(file 0)" ;;
    cut) head -c 3000 whole.h5 >"$(file 0)" ;;
    esac
    expect 1 sweep status sweep.cfg
    says out.txt "2 points, 1 finished, 0 running, 0 failed, 1 missing"
    expect 0 sweep merge sweep.cfg
    says err.txt "(1 of 2 points)"
    expect 0 sweep submit sweep.cfg --slurm --chunk=1
    says out.txt "#SBATCH --array=0"
    expect 0 sweep run sweep.cfg -q
    expect 0 sweep status sweep.cfg
    expect 0 inspect "$(file 0)"
done

# ---- the same bytes whatever runs beside them -------------------------------------------------------------
command_of() {
    tr '\0' '\n' <"$1" | grep -a '^dlsim ' || fail "$1 names no command"
}
expect 0 sweep run sweep.cfg -q -j 1 -o one
expect 0 sweep run sweep.cfg -q -j 4 -o a-folder-with-a-longer-name
for f in $(cd one/points && find . -name '*.h5'); do
    command_of "one/points/$f" >one.txt
    command_of "a-folder-with-a-longer-name/points/$f" >four.txt
    cmp one.txt four.txt || fail "the stored command depends on -j or -o: $(cat one.txt four.txt)"
    test "$(stat -c %s "one/points/$f")" -eq "$(stat -c %s "a-folder-with-a-longer-name/points/$f")" ||
        fail "the sizes of $f differ"
done
# It is the command of the single run.
command_of "$(file 1)" >command.txt
sed "s,^dlsim ,$dlsim ," command.txt >command.sh
echo " -q -o single.h5" | cat command.sh - | tr '\n' ' ' >single.sh
sh single.sh || fail "the stored command: $(cat single.sh)"
digest() {
    "$dlsim" inspect "$1" --json | grep -o '"digest": *"[0-9a-f]*"'
}
test "$(digest single.h5)" = "$(digest "$(file 1)")" || fail "the stored command does something else"
if python3 -c 'import h5py' 2>/dev/null; then
    python3 - one a-folder-with-a-longer-name <<'END' || fail "points of -j 1 and -j 4"
import glob, os, sys
import h5py, numpy as np
one, four = sys.argv[1:]
seen = []
def same(a, b):
    for key in set(a.attrs) | set(b.attrs):
        if key not in ("wall_s", "events_per_s", "started_utc"):
            assert np.array_equal(a.attrs[key], b.attrs[key]), (a.name, key)
    if isinstance(a, h5py.Dataset):
        x, y = a[()], b[()]
        fields = [f for f in x.dtype.names if "wall" not in f] if x.dtype.names else [...]
        assert all(x[f].tobytes() == y[f].tobytes() for f in fields), a.name
        seen.append(a.name)
        return
    assert list(a) == list(b), a.name
    for key in a:
        same(a[key], b[key])
for path in glob.glob(one + "/points/*/*.h5"):
    with h5py.File(path) as a, h5py.File(four + path[len(one):]) as b:
        same(a, b)
assert len(seen) > 20, seen
END
    checks=$((checks + 1))
fi

# ---- points in other hands ---------------------------------------------------------------------------------
# One that another process holds is running, is waited for, and is run when that process leaves it.
sweep '"1 s", "2 s", "3 s"'
lock=$(file 1)
lock=${lock%.h5}.lock
mkdir -p "${lock%/*}"
python3 - "$lock" <<'END' &
import fcntl, os, struct, sys, time
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
F_OFD_SETLK = 37
fcntl.fcntl(fd, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
fcntl.flock(fd, fcntl.LOCK_EX)
open("held", "w").close()
while not os.path.exists("release"):
    time.sleep(0.02)
END
holder=$!
for _ in $(seq 500); do
    test -e held && break
    sleep 0.02
done
expect 1 sweep status sweep.cfg
says out.txt "3 points, 0 finished, 1 running, 0 failed, 2 missing"
"$dlsim" sweep run sweep.cfg -q -j 2 &
runner=$!
for _ in $(seq 500); do
    "$dlsim" sweep status sweep.cfg >out.txt && break
    grep -q "2 finished, 1 running" out.txt && break
    sleep 0.02
done
says out.txt "3 points, 2 finished, 1 running, 0 failed, 0 missing"
kill -0 $runner 2>/dev/null || fail "the sweep is over although a point is missing"
touch release
wait $holder
code=0
wait $runner || code=$?
test $code -eq 0 || fail "exit code $code"
expect 0 sweep status sweep.cfg
says out.txt "3 points, 3 finished"

# To look takes no lock: nobody is kept from a point by it.
if command -v "$cc" >/dev/null; then
    cat >shim.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void look(int fd)
{
    char name[64], path[4096] = "";
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(name, path, sizeof path - 1);
    if (n > 5 && strcmp(path + n - 5, ".lock") == 0) {
        FILE *out = fopen("locked", "w");
        fclose(out);
    }
}
int flock(int fd, int how)
{
    look(fd);
    return ((int (*)(int, int))dlsym(RTLD_NEXT, "flock"))(fd, how);
}
static int pass(const char *name, int fd, int command, void *what)
{
    if (command == F_SETLK || command == F_OFD_SETLK || command == F_OFD_SETLKW) {
        look(fd);
    }
    return ((int (*)(int, int, void *))dlsym(RTLD_NEXT, name))(fd, command, what);
}
int fcntl(int fd, int command, ...)
{
    va_list a;
    va_start(a, command);
    return pass("fcntl", fd, command, va_arg(a, void *));
}
int fcntl64(int fd, int command, ...)
{
    va_list a;
    va_start(a, command);
    return pass("fcntl64", fd, command, va_arg(a, void *));
}
END
    "$cc" -O1 -fPIC -shared -o shim.so shim.c -ldl || fail "building the shim"
    sweep '"1 s", "2 s", "3 s", "4 s"'
    lock=$(file 3)
    mkdir -p "$(dirname "$lock")"
    : >"${lock%.h5}.lock"
    watched() {
        LD_PRELOAD=$work/shim.so ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 "$dlsim" "$@" >out.txt
    }
    watched sweep status sweep.cfg && fail "a point is missing"
    says out.txt "4 points, 3 finished, 0 running, 0 failed, 1 missing"
    test ! -e locked || fail "'sweep status' took a lock"
    watched sweep run sweep.cfg -q || fail "the last point"
    test -e locked || fail "the shim does not see locks"
fi

# An input that changes while the sweep runs is no input of the points that come after.
cp -r "$source/configs/hardware" moving
base 'perf: { model = "operator"; hardware = "moving"; };'
sed -i "s/max_jobs = 12/max_jobs = 60/" base.cfg
cat >sweep.cfg <<END
sweep: { base = "base.cfg";
         axes = ({ key = "scheduler.restore_cost"; from = "1 s"; to = "400 s"; steps = 400; }); };
END
rm -rf sweep.sweep
"$dlsim" sweep run sweep.cfg -q -j 1 2>err.txt &
runner=$!
for _ in $(seq 1000); do
    test "$(find sweep.sweep/points -name '*.h5' 2>/dev/null | wc -l)" -ge 1 && break
    sleep 0.01
done
echo '# another' >>moving/gpus.cfg
code=0
wait $runner || code=$?
test $code -eq 1 || fail "exit code $code"
says err.txt "moving/gpus.cfg: has changed since the sweep began"
echo "$checks checks"
