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
run policy3 --scheduler=las-rounds
run policy4 --placement=wholes --scheduler=fjf
# Jobs that get more than they ask for are faster; those that are asked for as they are, are not.
printf 'model,gpus,speed\nnone,1,1\n' >flat.csv
expect 0 --config="$source/configs/quickstart.cfg" --trace=jobs.csv --scheduler=fifo --set perf.elastic=flat.csv
expect 4 --config="$source/configs/quickstart.cfg" --trace=jobs.csv --scheduler=fifo --set perf.elastic=jobs.csv
says err.txt "jobs.csv:1"
