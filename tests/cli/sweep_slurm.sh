# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim sweep submit: the script; then, where Slurm is installed, a sweep run by a controller and a
# node of its own, with a task that fails and is submitted again.
. "$DLSIM_SOURCE/tests/support/cli.sh"
cat >my.cfg <<END
sweep: {
    base = "$source/configs/quickstart.cfg";
    set = ("trace.path=$sample", "cluster.nodes[0].count=2");
    axes = ({ key = "scheduler.name"; values = ["fifo", "srtf", "dlas-gpu", "lpjf", "gittins"]; });
    replicas = 2;
};
END
expect 2 sweep submit my.cfg
says err.txt "--slurm"
expect 2 sweep submit my.cfg --slurm --chunk=0
expect 2 sweep submit my.cfg --slurm --points=1
expect 2 sweep submit my.cfg --slurm --time="1:00
#SBATCH --wrap=x"
expect 0 sweep submit my.cfg --slurm --chunk=3 --time=1:00 --partition=fast --extra=--mem=1G -j 2 \
    --set "name=it's" --until=30d --watchdog=9
for line in '#SBATCH --array=0-3' '#SBATCH --cpus-per-task=2' '#SBATCH --time=1:00' \
    '#SBATCH --partition=fast' '#SBATCH --mem=1G' "--set 'name=it'\\''s' --until 30d --watchdog 9" \
    'first=$((SLURM_ARRAY_TASK_ID * 3))'; do
    says out.txt "$line"
done
sh -n out.txt || fail "the script is not one of a shell"
# The batch shell is the program: it is told a minute before its time ends.
says out.txt '#SBATCH --signal=B:TERM@60'
# A name is one word of a directive.
sed 's/sweep: {/sweep: { name = "my sweep";/' my.cfg >named.cfg
expect 0 sweep submit named.cfg --slurm
grep -qx "#SBATCH --job-name='my sweep'" out.txt || fail "the name is not quoted: $(cat out.txt)"
grep -qx "#SBATCH --output='my sweep.sweep/slurm/%A_%a.out'" out.txt || fail "the output: $(cat out.txt)"
expect 0 sweep submit my.cfg --slurm -o 50%done
grep -qx '#SBATCH --output=50%%done/slurm/%A_%a.out' out.txt || fail "the output: $(cat out.txt)"
test ! -e my.sweep || fail "printing a script made a folder"
# What is finished is not asked for; the script runs without Slurm, too.
expect 0 sweep run my.cfg -q --points=3-6
expect 0 sweep submit my.cfg --slurm --chunk=2
says out.txt "#SBATCH --array=0-1,3-4"
sh -c 'SLURM_ARRAY_TASK_ID=4; export SLURM_ARRAY_TASK_ID; sh ./out.txt' || fail "the script as it is"
expect 0 sweep status my.cfg --points=8-9

. "$DLSIM_SOURCE/tests/support/slurm.sh"
slurm_start accounting_storage/none
# settle N: until N tasks in all have ended
settle() {
    for _ in $(seq 600); do
        test "$(squeue -h -r -t all -o %T | grep -Ec 'COMPLETED|FAILED')" -ge "$1" && return
        sleep 0.1
    done
    fail "the tasks do not end: $(squeue -r -t all)"
}

# The first point of task 1 cannot be written, so that task fails; the others do not.
rm -rf my.sweep
id=$("$dlsim" sweep plan my.cfg -q | sed -n '4s/.*,//p') # point 2
mkdir -p "my.sweep/points/${id:0:2}/$id.h5" # a folder is in its way
expect 0 sweep submit my.cfg --slurm --yes --chunk=2
says err.txt "5 tasks of 2 points"
settle 5
expect 1 sweep status my.cfg
says out.txt "point 2 (srtf/consolidated)"
says out.txt "10 points, 9 finished, 0 running, 1 failed, 0 missing"
says out.txt "4 COMPLETED"
says out.txt "1 FAILED"
rmdir "my.sweep/points/${id:0:2}/$id.h5"
expect 0 sweep submit my.cfg --slurm --chunk=2
says out.txt "#SBATCH --array=1"
expect 0 sweep submit my.cfg --slurm --yes --chunk=2
says err.txt "1 tasks of 2 points"
settle 6
expect 0 sweep status my.cfg
says out.txt "5 COMPLETED, 1 FAILED"
expect 0 sweep submit my.cfg --slurm --yes
says err.txt "all 10 points are finished"

# The same results as here.
expect 0 sweep run my.cfg -q -j 1 -o here
for folder in here my.sweep; do
    expect 0 sweep merge my.cfg -o $folder --file=$folder.h5 -q
    "$dlsim" inspect $folder.h5 --json | grep '"digest"' >$folder.txt
done
test "$(sort -u here.txt | wc -l)" -ge 4 || fail "the points are all alike"
cmp here.txt my.sweep.txt || fail "Slurm gives other results"
echo "$checks checks"
