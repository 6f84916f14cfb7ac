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
echo "$checks checks"
