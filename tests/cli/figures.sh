#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every figure is drawn from small results; none is blank, the same results give the same bytes, and one
# changed value another picture.
. "$DLSIM_SOURCE/tests/support/cli.sh"
export DLSIM_PLOTS=$source/plots
expect 2 reproduce
expect 2 reproduce --all tiresias_jct
python=$(sh "$source/plots/python.sh") || {
    echo "skipped: no Python with matplotlib"
    exit 77
}
expect 2 reproduce nonsense
says err.txt "no figure 'nonsense'"
expect 0 reproduce --list
figures=$(awk '{print $1}' out.txt)

# NAME, the file that it draws, what of it is changed.
cat >cases.txt <<'END'
cost                 cost-small/cost.h5                                  points/positions_per_event
deletepop            operators.md                                        ()(\d+\.\d+)(?= \| [+-]\d+\.\d \|)
driple_sensitivity   driple-40-3/uniform.h5                              settings/V100-P1w2-ho-PCIe/label
driple_series        facts1.md                                           ( MB/s, )(0\.\d+)
driple_studies       driple-40-3/base.json                               ("nrmse": )(0\.\d+)
driple_transfer      driple-40-3/scratch-2080Ti-P1w2-ho-PCIe.json        ("nrmse": )(0\.\d+)
placement            placement-small/placement.h5                        points/jct_mean_s
prediction_error     placement-small/placement.h5                        points/jct_mean_s
tiresias_category    tiresias-small/tiresias.h5                          runs/*/jobs/end_us
tiresias_example     tiresias_example-small/tiresias_example.h5          runs/*/allocations/end_us
tiresias_jct         tiresias-small/tiresias.h5                          runs/*/jobs/end_us
tiresias_placement   tiresias_placement-small/tiresias_placement.h5      runs/*/jobs/end_us
tiresias_queue       tiresias-small/tiresias.h5                          runs/*/jobs/pending_us
tiresias_sensitivity tiresias_sensitivity-small/tiresias_sensitivity.h5  points/jct_mean_s
tiresias_utilisation tiresias-small/tiresias.h5                          runs/*/series/cluster/busy_gpus
END
diff <(echo "$figures") <(awk '{print $1}' cases.txt) || fail "figures without a case here"

expect 0 reproduce --all --small -j 2 -o drawn
grep -q '^| ' out.txt || fail "no rows"
if grep -v '^| .* | .* | .* |$' out.txt; then fail "not a row of a table"; fi
"$python" "$source/tests/support/figures.py" "$source/plots" drawn cases.txt
code=0
"$python" "$source/plots/tiresias_jct.py" cases.txt >/dev/null 2>err.txt || code=$?
test $code -eq 4 || fail "exit code $code of a bad file"
says err.txt "tiresias_jct.py: cases.txt: cannot be read as HDF5"
rm -rf drawn/*.png
expect 0 reproduce tiresias_jct --small -j 2 -o drawn
test -s drawn/tiresias_jct.png || fail "not drawn again"
code=0
DLSIM_PYTHON=/bin/false "$dlsim" reproduce tiresias_jct --small -o drawn 2>err.txt || code=$?
test $code -eq 6 || fail "exit code $code without a Python"
says err.txt "apt install"
echo "$checks checks"
