# SPDX-License-Identifier: GPL-3.0-or-later
# The policies of docs/policies.md: each C block is a file that compiles against the installed headers alone
# and runs, audited, as a plug-in.
. "$DLSIM_SOURCE/tests/support/cli.sh"
cc=${CC:-cc}
command -v "$cc" >/dev/null || {
    echo "no C compiler: skipped"
    exit 77
}
awk '/^```c$/ { n++; on = 1; next } /^```$/ { on = 0 } on { print > ("policy" n ".c") }' \
    "$source/docs/policies.md"
test "$(ls policy*.c | wc -l)" -eq 4 || fail "docs/policies.md has another number of policies"
awk -F, 'NR == 1 { next } NR == 2 { print $0 ",min_gpus,max_gpus"; next } NR < 400 { print $0 ",1," 2 * $2 }' \
    "$source/traces/samples/philly_like_5000.csv" >jobs.csv
head -2 jobs.csv | grep -q "^job_id,num_gpu" || fail "the sample has other columns"
for policy in policy*.c; do
    "$cc" -std=c17 -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden -I"$source/sim/include" \
        -o "${policy%.c}.so" "$policy" || fail "$policy does not compile"
done
# run PLUGIN OPTION...
run() {
    expect 0 --config="$source/configs/quickstart.cfg" --trace=jobs.csv --plugin="./$1.so" \
        --set run.audit=true --set 'cluster.nodes[0].count=4' "${@:2}"
    says out.txt "397 completed"
}
run policy1 --scheduler=largest
run policy2 --scheduler=greedy
# Those that share what a quota leaves have more than that when nodes fail: they may shrink.
for seed in 1 2 3; do
    run policy2 --scheduler=greedy --set failures.node_mtbf=1d --set checkpoint.period=10min --seed=$seed \
        --set 'cluster.virtual_clusters[0].name=other' --set 'cluster.virtual_clusters[0].gpus=8'
done
run policy3 --scheduler=las-rounds
run policy3 --scheduler=las-rounds --set failures.node_mtbf=1d --set checkpoint.period=10min
grep -q "failures" out.txt || fail "nothing failed"
run policy4 --placement=wholes --scheduler=fjf
# What is left of a gang finds a node when all of them are whole.
printf 'job_id,num_gpu,submit_time,duration\n0,12,0,10\n1,20,0,10\n' >rest.csv
expect 0 --config="$source/configs/quickstart.cfg" --trace=rest.csv --plugin=./policy4.so --placement=wholes \
    --set 'cluster.nodes[0].count=5'
says out.txt "2 completed"
# Each of them goes on equally in a clone that is made in the midst of a run. (A program without sanitizers cannot
# load a library with them.)
cat >clones.c <<'END'
#include <dlsim/run.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    dls_setup *setup = NULL;
    dls_trace *trace = NULL;
    dls_simulation *sim = NULL, *copy = NULL;
    dls_error err;
    dls_status status = argc == 6 ? dls_setup_create(&setup, &err) : DLS_EUSAGE;
    status = status ? status : dls_setup_file(setup, argv[1], &err);
    status = status ? status : dls_setup_plugin(setup, argv[3], &err);
    status = status ? status : dls_setup_set(setup, argv[4], argv[5], &err);
    status = status ? status : dls_trace_load(argv[2], NULL, NULL, &trace, &err);
    status = status ? status : dls_simulation_create(setup, trace, &sim, &err);
    status = status ? status : dls_simulation_run_until(sim, INT64_C(40000000000), &err);
    const int live = !status && !dls_simulation_is_finished(sim);
    status = status ? status : dls_simulation_clone(sim, &copy, &err);
    status = status ? status : dls_simulation_run(copy, &err);
    status = status ? status : dls_simulation_run(sim, &err);
    const int equal = !status && live && dls_simulation_digest(sim) == dls_simulation_digest(copy);
    if (status) {
        fprintf(stderr, "%s\n", err.msg);
    }
    dls_simulation_destroy(copy);
    dls_simulation_destroy(sim);
    dls_trace_destroy(trace);
    dls_setup_destroy(setup);
    return equal ? 0 : 1;
}
END
library=$(dirname "$dlsim")
if ! nm -D "$library/libdlsim.so" | grep -q __asan_init; then
    "$cc" -std=c17 -Wall -Wextra -Werror -I"$source/sim/include" -o clones clones.c -L"$library" -ldlsim \
        -Wl,-rpath,"$library" || fail "clones.c does not compile"
    for words in "1 scheduler.name largest" "2 scheduler.name greedy" "3 scheduler.name las-rounds" \
        "4 placement.name wholes"; do
        set -- $words
        ./clones "$source/configs/quickstart.cfg" jobs.csv "./policy$1.so" "$2" "$3" || fail "$3 is not cloned"
    done
fi
# Jobs that get more than they ask for are faster; those that are asked for as they are, are not.
printf 'model,gpus,speed\nnone,1,1\n' >flat.csv
expect 0 --config="$source/configs/quickstart.cfg" --trace=jobs.csv --scheduler=fifo --set perf.elastic=flat.csv
expect 4 --config="$source/configs/quickstart.cfg" --trace=jobs.csv --scheduler=fifo --set perf.elastic=jobs.csv
says err.txt "jobs.csv:1"
