#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The study of Tiresias's testbed on three seeds and two sizes: every job ends, and the orders that
# docs/figures.md states hold in the means.
. "$DLSIM_SOURCE/tests/support/cli.sh"
cp -r "$source/configs" .
sed -i 's/\[ 15, 12, 10, 9, 8, 7, 6 \]/[ 15, 8 ]/; s/replicas = 20/replicas = 3/' configs/studies/tiresias-testbed.cfg
for seed in 1 2 3; do
    expect 0 trace generate --profile=tiresias --jobs=480 --seed=$seed -q -o testbed-$seed.csv
done
expect 0 study configs/studies/tiresias-testbed.cfg --set "trace.path=$PWD/testbed-{seed}.csv" --json -o runs -j 2 -q
cp out.txt study.json
python3 - <<'END' || fail "orders on the testbed"
import json

of = {d["label"].split(", count=")[0] + " " + d["label"].split("=")[1]: {k: v["mean"] for k, v in d["figures"].items()}
      for d in json.load(open("study.json"))["designs"]}
assert len(of) == 14, list(of)
for machines in ("15", "8"):
    yarn, packed, srtf, gittins, own, consolidated, random = (
        of[d + " " + machines] for d in ("fifo/random", "fifo/consolidated", "srtf/tiresias", "gittins/tiresias",
                                         "dlas-gpu/tiresias", "dlas-gpu/consolidated", "dlas-gpu/random"))
    busy = machines == "8"
    # The production manager is slower by factors, its median by more; random placement costs; SRTF is as good.
    assert yarn["jct_mean"] > (4 if busy else 2) * own["jct_mean"], (yarn, own)
    assert yarn["jct_median"] / own["jct_median"] > yarn["jct_mean"] / own["jct_mean"], (yarn, own)
    assert not busy or packed["jct_mean"] > 2 * own["jct_mean"], (packed, own)
    assert random["jct_mean"] > 1.05 * own["jct_mean"] > own["jct_mean"] > consolidated["jct_mean"], (random, own, consolidated)
    assert 0.7 * own["jct_mean"] < srtf["jct_mean"] < own["jct_mean"], (srtf, own)
    assert 0.9 * own["jct_mean"] < gittins["jct_mean"] < 1.4 * own["jct_mean"], (gittins, own)
    assert 40 < own["preemptions"] < 600, own
END
expect 0 inspect runs/tiresias-testbed.h5 --json
grep -q '"unfinished": 0' out.txt || fail "no run: $(head -c 300 out.txt)"
if grep -E '"(unfinished|infeasible)": [1-9]' out.txt; then fail "jobs that did not end"; fi
