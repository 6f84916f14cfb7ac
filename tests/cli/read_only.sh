# SPDX-License-Identifier: GPL-3.0-or-later
# Every command that writes, in a folder in which it may not: it says which file, with exit code 5, and leaves nothing.
# Root may write everywhere, so as root the commands are somebody else's.
. "$DLSIM_SOURCE/tests/support/cli.sh"
as=
if [ "$(id -u)" -eq 0 ]; then
    as="setpriv --reuid=65534 --regid=65534 --clear-groups"
    # shellcheck disable=SC2086 # words
    $as test -x "$dlsim" 2>/dev/null || {
        echo "skipped: no other user can be taken, or it cannot run the program"
        exit 77
    }
fi
hw=--hardware=$source/configs/hardware
small="--graphs=34 --samples=20 --groups=4 --features=total $hw --setting=V100-P1w2-ho-PCIe"
expect 0 --config="$source/configs/quickstart.cfg" --trace="$sample" -o run.h5 -q
# shellcheck disable=SC2086 # words
expect 0 dataset build -o d.h5 $small -q
expect 0 model random -o model.h5 --arch=hidden=16
cat >sweep.cfg <<END
sweep: { base = "$source/configs/quickstart.cfg"; set = ("trace.path=$sample");
         axes = ({ key = "scheduler.restore_cost"; values = ["0 s", "9 s"]; }); };
END
mkdir ro
echo here >ro/there
chmod 755 .
chmod 555 ro

# refuses WORDS...
refuses() {
    local code=0
    (cd ro && exec $as "$dlsim" "$@") >out.txt 2>err.txt </dev/null || code=$?
    test $code -eq 5 || fail "dlsim $*: exit code $code, not 5: $(cat err.txt)"
    says err.txt "Permission denied"
    grep -q 'new' err.txt || fail "dlsim $*: no file is named: $(cat err.txt)"
    test "$(ls -A ro)" = there || fail "dlsim $* left $(ls -A ro)"
}
run="--config=$source/configs/quickstart.cfg --trace=$sample -q"
from=$source/tests/slurm/policies
# shellcheck disable=SC2086 # words
{
    refuses run $run -o new.h5
    refuses export --perfetto "$work/run.h5" -o new.json
    refuses export --csv "$work/run.h5" -o new.csv
    refuses trace convert "$sample" -o new.csv
    refuses trace generate --profile=philly --jobs=100 -o new.csv
    refuses graph zoo resnet50 -o new.h5
    refuses graph group resnet50 -o new.h5
    refuses model random -o new.h5 --arch=hidden=16
    refuses dataset build -o new.h5 $small -q
    refuses train --dataset="$work/d.h5" --setting=V100-P1w2-ho-PCIe --arch=hidden=16 --epochs=1 -o new.h5 -q
    refuses sweep run "$work/sweep.cfg" -o new -q -j 1
    refuses import slurm --sacct="$from/sacct.txt.gz" --nodes="$from/nodes.txt" -o new
    refuses perf record -q --no-gpu -o new.h5 -- true
    refuses operators profile --model=resnet50 --gpu=V100 --gpus=2 --servers=1 -o new.h5
}
if sh "$source/plots/python.sh" h5py numpy plotly >/dev/null 2>&1; then
    export DLSIM_PLOTS=$source/plots
    refuses report "$work/run.h5" -o new.html
fi
echo "$checks checks"
