#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Names out of files reach the terminal without control characters, and JSON whole.
. "$DLSIM_SOURCE/tests/support/cli.sh"
esc=$(printf '\033')
printf 'job_id,num_gpu,submit_time,duration,vc\n' >evil.csv
printf 'a\033[31mred,1,0,100,t\033]0;x\007\nb\302\233red,100000,0,100,t\n' >>evil.csv
run="--config=$source/configs/quickstart.cfg --trace=evil.csv"

# clean: no control character in what was said.
clean() {
    ! grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' out.txt err.txt || fail "$* printed a control character"
    checks=$((checks + 1))
}

# shellcheck disable=SC2086
expect 0 run $run -o evil.h5
clean run
for what in "inspect evil.h5" "inspect evil.h5 --jobs" "inspect evil.h5 --config" "trace stats evil.csv"; do
    # shellcheck disable=SC2086
    expect 0 $what
    clean "$what"
done
expect 0 inspect evil.h5 --jobs
says out.txt 'a\x1b[31mred'
expect 0 inspect evil.h5 "--job=a$esc[31mred"
says out.txt 'vc: t\x1b]0;x\x07'
clean inspect --job
expect 4 inspect evil.h5 "--job=$esc[31m"
clean inspect --job
expect 0 inspect evil.h5 --jobs --json
says out.txt 'a\u001b[31mred'
clean inspect --json
cp evil.h5 "$esc[31m.h5"
expect 0 compare evil.h5 "$esc[31m.h5"
clean compare
expect 4 compare evil.h5 "$esc[32m.h5"
clean compare
# Labels are as wide as what is shown of them.
printf 'sweep: { base = "run.cfg"; axes = ( { key = "name"; values = [ "a\\x1b[31m", "b" ]; } ); };\n' >wide.cfg
{
    cat "$source/configs/quickstart.cfg"
    echo 'trace: { path = "evil.csv"; };'
} >run.cfg
expect 0 sweep run wide.cfg -q
expect 0 sweep merge wide.cfg -q
expect 0 compare wide.sweep/wide.h5
clean compare
test "$(awk '/name=/ || /completed/ { print length }' out.txt | sort -u | wc -l)" = 2 || fail "columns of compare: $(cat out.txt)"
# So are partitions, which are whole, and jobs of a site.
{
    echo job_id,num_gpu,submit_time,duration,queue,vc
    for i in $(seq 40); do printf 'j\033[31m%d,8,%d,1000,%d,"a-partition-of-a-long-n\303\244me-%d\033"\n' "$i" $((100 * i)) $((i % 3 * 10)) $((i % 2)); done
} >site.csv
sed 's/evil.csv/site.csv/' run.cfg >site.cfg
expect 0 whatif site.cfg --remove 'v100: 28' --both energy.account=true
clean whatif
for part in 0 1; do
    test "$(grep -c "^partition  a-partition-of-a-long-näme-$part.x1b " out.txt)" = 3 || fail "partitions of whatif: $(cat out.txt)"
done
for head in "wait, mean" "wait, 95th" "energy of"; do
    test "$(sed -n "/^$head/,/^\$/p" out.txt | sed "s/ä/a/" | awk 'NF { print length }' | sort -u | wc -l)" = 1 || fail "columns of whatif: $(cat out.txt)"
done
expect 0 fidelity site.cfg --set 'cluster.nodes[0].count=2'
clean fidelity
says out.txt 'the largest: j\x1b[31m'
expect 0 trace stats site.csv
test "$(grep -E '^(virtual cluster|a-partition)' out.txt | sed 's/ä/a/' | awk '{ print length }' | sort -u | wc -l)" = 1 ||
    fail "columns of trace stats: $(cat out.txt)"
echo "$checks checks"
