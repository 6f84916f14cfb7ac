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
for formats in gif png,gif , png,; do expect 2 reproduce tiresias_jct --formats=$formats; done
says err.txt "formats 'png,': of pdf, svg, png"
expect 2 reproduce nonsense
says err.txt "no figure 'nonsense'"
expect 5 reproduce tiresias_example -o "$0/figures"
expect 0 reproduce --list
figures=$(awk '{print $1}' out.txt)

# NAME, the file that it draws, what of it is changed.
cat >cases.txt <<'END'
cost                 cost-small/cost.h5                                  points/events
deletepop            operators.md                                        ( judge .*\| )(\d+\.\d+)(?= \| [+-]\d+\.\d \|)
driple_cases         cases/resnet44-driple.json                          ("gpu_peak": )(0\.\d+)
driple_sensitivity   driple-40-3/uniform.h5                              settings/V100-P1w2-ho-PCIe/label
driple_series        series/seq2seq_medium.h5                            time_ns
driple_studies       driple-40-3/base-1.json                              ("nrmse": )(0\.\d+)
driple_transfer      driple-40-3/scratch-2080Ti-P1w2-ho-PCIe.json        ("nrmse": )(0\.\d+)
fidelity             fidelity-small.csv                                  (tiresias,3,[\d.]+,[\d.]+,)(\d+\.\d+)
measured             measured.h5                                         steps/predicted_s
placement            placement-predictors-small/placement-predictors.h5  points/jct_mean_s
prediction_error     placement-predictors-small/placement-predictors.h5  points/jct_mean_s
schedulers           schedulers_small-small/schedulers_small.h5          runs/*/jobs/end_us
tiresias_category    tiresias-small/tiresias.h5                          runs/*/jobs/end_us
tiresias_example     tiresias_example-small/tiresias_example.h5          runs/*/allocations/end_us
tiresias_jct         tiresias-small/tiresias.h5                          runs/*/jobs/end_us
tiresias_placement   tiresias_placement-small/tiresias_placement.h5      runs/*/jobs/end_us
tiresias_promote     tiresias_promote-small/tiresias_promote.h5          points/jct_mean_s
tiresias_queue       tiresias-small/tiresias.h5                          runs/*/jobs/pending_us
tiresias_sensitivity tiresias_sensitivity-small/tiresias_sensitivity.h5  points/jct_mean_s
tiresias_testbed     tiresias-testbed-small/tiresias-testbed.h5          points/queue_mean_s
tiresias_utilisation tiresias-small/tiresias.h5                          runs/*/series/cluster/busy_gpus
END
diff <(echo "$figures") <(awk '{print $1}' cases.txt) || fail "figures without a case here"

# Published outputs stand in: replays of a small trace, in one of which job 3 takes 10 % longer.
mkdir published
awk 'BEGIN {
    print "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time,resource_time_0,resource_time_1,resource_time_2,priority"
    for (i = 0; i < 12; i++)
        printf "%d,%d,%d,%d,dqn,128,%d,60000,490,446,8,0,1\n", i, 2 ^ (i % 4), 60000 * i, 3000 + 500 * (i % 5), 490 * (3000 + 500 * (i % 5))
}' >published/trace.csv
for policy in srsf tiresias; do
    expect 0 muri --nodes=2 --schedule=$policy published/trace.csv -o published/$policy.csv -q
done
awk -F, -v OFS=, '$1 == 3 && NR > 1 { $5 = $3 + 1.1 * ($5 - $3) } 1' published/tiresias.csv >published/changed.csv
mv published/changed.csv published/tiresias.csv
cat >published/fidelity.cfg <<'END'
[simulator]
system = Muri
against = simulator
published = (?P<policy>srsf|tiresias)\.csv
command = muri --nodes=2 --schedule={policy} trace.csv -o {out}

[testbed]
system = Testbed
against = hardware
published = (?P<policy>tiresias)\.csv
simulator = srsf.csv
command = muri --nodes=2 --testbed --schedule={policy} trace.csv -o {out}

[not there]
system = Nobody
against = simulator
published = nothing\.csv
command = muri trace.csv -o {out}
END
export DLSIM_FIDELITY=$PWD/published/fidelity.cfg

# A folder may have blanks in its name; of one file, and of several.
expect 0 reproduce tiresias_example driple_cases --small --formats=png -j 2 -o "a folder"
test -s "a folder/tiresias_example.png" && test -s "a folder/driple_cases.png" || fail "no pictures in a folder of two words"
expect 0 reproduce --all --small --formats=png -j 2 -o drawn
grep -q '^| ' out.txt || fail "no rows"
grep -q '^| Muri, srsf: jobs equal | 12 in 1 runs | 12 |$' out.txt || fail "fidelity: $(grep Muri out.txt)"
grep -q '^| Muri, tiresias: jobs equal; .* | 12 in 1 runs | 11; -.* %; 0.0 % |$' out.txt || fail "fidelity: $(grep Muri out.txt)"
grep -q '^| Testbed, tiresias: average JCT; ' out.txt || fail "fidelity: no row of the testbed"
says err.txt '[not there] is left out'
if grep -v '^| .* | .* | .* |$' out.txt; then fail "not a row of a table"; fi
"$python" "$source/tests/support/figures.py" "$source/plots" drawn cases.txt
code=0
"$python" "$source/plots/tiresias_jct.py" cases.txt >/dev/null 2>err.txt || code=$?
test $code -eq 4 || fail "exit code $code of a bad file"
says err.txt "tiresias_jct.py: cases.txt: cannot be read as HDF5"
DLSIM_FIDELITY=$PWD/cases.txt expect 1 reproduce fidelity -o none
says err.txt "cases.txt: File contains no section headers"
DLSIM_FIDELITY='' DLSIM_SHARED='' expect 1 reproduce fidelity -o none
says err.txt "DLSIM_SHARED names no folder"
# A network that diverged has an infinite error; other failures are failures.
cat >stand-in <<'END'
#!/bin/sh
case $* in evaluate*gin*) echo "dlsim: $FAILURE" >&2; exit 1 ;; esac
exec "$REAL" "$@"
END
chmod +x stand-in
diverged() { # FAILURE
    rm drawn/data/driple-40-3/study-conv-gin-1.json
    FAILURE=$1 REAL=$dlsim DLSIM=$PWD/stand-in sh "$source/plots/reproduce.sh" driple_studies --small --formats png -o drawn
}
diverged 'graph 3: the prediction of gpu_idle is not finite' >out.txt || fail "a diverged network: $(cat out.txt)"
grep -q '^| NRMSE by convolution.* gin inf |' out.txt || fail "a diverged network: $(cat out.txt)"
if diverged 'no memory' >out.txt 2>err.txt; then fail "a failure was taken for a diverged network"; fi
says err.txt 'no memory'
mv drawn/tiresias_jct.png first.png
for i in 1 2; do
    expect 0 reproduce tiresias_jct --small -j 2 -o drawn
    mkdir all$i
    mv drawn/tiresias_jct.* all$i
    rm -rf drawn/data
done
diff -r all1 all2 || fail "another picture from the same simulations run again"
test "$(ls all1)" = "$(printf 'tiresias_jct.%s\n' pdf png svg)" || fail "formats: $(ls all1)"
cmp first.png all1/tiresias_jct.png || fail "alone, tiresias_jct looks different"
code=0
DLSIM_PYTHON=/bin/false "$dlsim" reproduce tiresias_jct --small -o drawn 2>err.txt || code=$?
test $code -eq 6 || fail "exit code $code without a Python"
says err.txt "apt install"
echo "$checks checks"
