# SPDX-License-Identifier: GPL-3.0-or-later
# The commands of docs/sweeps.md work as they are printed, and GNU parallel, MPI and plain processes
# share a sweep with one result.
. "$DLSIM_SOURCE/tests/support/cli.sh"
cp -r "$source/configs" "$source/traces" .
on_path
# The sweep that the page shows, from a folder beside the configurations.
sed -n '/^    sweep: {/,/^    };/p' "$source/docs/sweeps.md" | sed 's/^    //' >configs/sweep.cfg
cp configs/sweep.cfg NAME.cfg
sed -i 's|"quickstart.cfg"|"configs/quickstart.cfg"|; s|=../traces/samples/philly_like_5000|=traces/samples/quick_60|' NAME.cfg
expect 0 sweep plan configs/sweep.cfg -q
mv NAME.cfg sweep.cfg
sed -i 's|^sweep: {|sweep: { name = "NAME";|; s|replicas = 3|replicas = 1|' sweep.cfg

# Lines of its blocks of shell commands, those of Slurm apart (a test of their own).
sed -n '/^```sh/,/^```/p' "$source/docs/sweeps.md" | grep -v '^```' | grep -v -- '--slurm' >lines.txt
test "$(wc -l <lines.txt)" -ge 8 || fail "docs/sweeps.md shows few commands: $(cat lines.txt)"
while read -r line; do
    case $line in
    *mpirun*)
        command -v mpirun >/dev/null || continue
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        line="${line/mpirun/mpirun --oversubscribe} -o mpi"
        ;;
    *'| parallel'*)
        command -v parallel >/dev/null || continue
        line="${line/{\}/{\} -o parallel}"
        ;;
    esac
    bash -e -c "$line" >out.txt 2>err.txt </dev/null || fail "$line: $(cat err.txt)"
    checks=$((checks + 1))
done <lines.txt

# Plain processes at once.
for i in 1 2 3; do
    "$dlsim" sweep run sweep.cfg -q -j 1 -o shared &
done
wait
digests() { # digests FOLDER
    expect 0 sweep status sweep.cfg -o "$1"
    expect 0 sweep merge sweep.cfg -o "$1" --file="$1.h5" -q
    "$dlsim" inspect "$1.h5" --json | grep '"digest"'
}
digests NAME.sweep >want.txt
for folder in shared mpi parallel; do
    test -d $folder || continue
    digests $folder | cmp - want.txt || fail "$folder gives other results"
done
# With a log of what the page says in Python, where there are the modules for it.
if /usr/bin/python3 -c 'import h5py, pandas' 2>/dev/null; then
    sed -n '/^```python/,/^```/p' "$source/docs/sweeps.md" | grep -v '^```' >page.py
    echo 'assert len(points) == 15 and points.jct_mean_s.notna().all()' >>page.py
    /usr/bin/python3 page.py || fail "the page's Python"
fi
echo "$checks checks"
