#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Two of every command that writes, at once, to one name: both succeed, what is there is whole and what one
# alone writes, and nothing else in the folder changes. A cache that cannot be written costs a warning.
. "$(dirname "$0")/../support/cli.sh"
turns=${TWO_TURNS:-$((${DLSIM_SANITIZE:-0} ? 1 : 3))}
hw=--hardware=$source/configs/hardware
run=("--config=$source/configs/quickstart.cfg" "--trace=$sample" --quiet)
set=(--graphs=34 --samples=20 --groups=4 --features=total "$hw" --setting=V100-P1w2-ho-PCIe -q)
expect 0 "${run[@]}" -o run.h5
expect 0 dataset build -o d.h5 "${set[@]}"
in=$work

same_as_alone() {
    diff -r alone two >alone.diff
}

# two WORDS...: what one writes in a folder is what two write there at once, twice: where there is nothing yet, and
# where the others' file is.
two() {
    local turn code other
    rm -rf alone two
    mkdir alone two
    (cd alone && exec "$dlsim" "$@") >out.txt 2>err.txt </dev/null || fail "dlsim $*: $(cat err.txt)"
    for ((turn = 0; turn < turns; turn++)); do
        code=0 other=0
        (cd two && exec "$dlsim" "$@") >out.txt 2>err.txt </dev/null &
        (cd two && exec "$dlsim" "$@") >out.2.txt 2>err.2.txt </dev/null || other=$?
        wait $! || code=$?
        test "$code $other" = "0 0" || fail "two of dlsim $*: exit codes $code and $other: $(cat err.txt err.2.txt)"
        same_as_alone || fail "two of dlsim $*: $(head -c 2000 alone.diff)"
        checks=$((checks + 1))
    done
}

(
    same_as_alone() { # how long it took stands in them
        test "$(ls -A two)" = r.h5 &&
            cmp -s <("$dlsim" inspect alone/r.h5 --jobs=0 | grep -v '^wall') \
                <("$dlsim" inspect two/r.h5 --jobs=0 | grep -v '^wall')
    }
    two run "${run[@]}" -o r.h5 --force
) || exit 1
two trace convert "$sample" -o t.csv --force
two trace generate --profile=philly --jobs=2000 --seed=3 -o t.csv --force
two export --perfetto "$in/run.h5" -o r.json --force
two export --csv "$in/run.h5" -o r.csv --force
two graph zoo resnet50 --force -o g.h5
two graph group resnet50 --force -o g.h5
two model random --force -o m.h5 --arch=hidden=16
two dataset build --force -o d.h5 "${set[@]}"
from=$source/tests/slurm/policies
two import slurm --sacct="$from/sacct.txt.gz" --nodes="$from/nodes.txt" --qos="$from/qos.txt" \
    --partitions="$from/partitions.txt" -o site
(
    same_as_alone() {
        test "$(ls -A two)" = w.h5 && cmp -s <("$dlsim" model show alone/w.h5 | grep -vi second) \
            <("$dlsim" model show two/w.h5 | grep -vi second)
    }
    two train --dataset="$in/d.h5" --setting=V100-P1w2-ho-PCIe --arch=hidden=16 --epochs=2 --threads=1 --force -o w.h5 -q
) || exit 1
cat >sweep.cfg <<END
sweep: { base = "$source/configs/quickstart.cfg"; set = ("trace.path=$sample");
         axes = ({ key = "scheduler.restore_cost"; from = "0 s"; to = "60 s"; steps = 9; }); };
END
(
    same_as_alone() { # each file is of one of them
        test -z "$(find two -name '.*.h5.*' -o -name '*.lock')" &&
            diff <(cd alone && find . -name '*.h5' | sort) <(cd two && find . -name '*.h5' | sort) >alone.diff
    }
    two sweep run "$in/sweep.cfg" -o s -q -j 2
) || exit 1
checks=$((checks + 3 * turns))

expect 0 run "${run[@]}" -o cached.h5 --set perf.model=operator --set predictor.source=driple \
    --set "predictor.cache=$work/nowhere/at/all"
says err.txt "warning: $work/nowhere/at/all: cannot be created: No such file or directory"
expect 0 inspect cached.h5
echo "$checks checks"
