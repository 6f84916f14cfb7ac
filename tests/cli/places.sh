# SPDX-License-Identifier: GPL-3.0-or-later
# Measured steps beside a source's, place by place (docs/placement-study.md), on a table of one model: every place once, what
# is measured as in the table, and errors that are the rows'.
. "$DLSIM_SOURCE/tests/support/cli.sh"
command -v python3 >/dev/null || exit 77
mkdir -p table/cifar10
awk 'BEGIN { print "placement,local_bsz,step_time,sync_time"
    n = split("1 2 11 4 22 1111 44 2222 11111111 4444 22222222 1111111111111111", place, " ")
    for (i = 1; i <= n; i++) printf "%s,128,%.2f,0\n", place[i], i / 100 }' >table/cifar10/placements.csv
places() {
    python3 "$source/predictor/measured/places.py" --dlsim="$dlsim" --set="perf.table=$PWD/table" "$@" \
        "$source/configs/placement-pollux.cfg" cifar10:128 >out.txt 2>err.txt || fail "places.py $*: $(cat err.txt)"
}
places --source=oracle
test "$(grep -c '^| cifar10' out.txt)" -eq 12 || fail "places: $(cat out.txt)"
sort -t'|' -k3,3 -u out.txt | grep -c '^| cifar10' | grep -qx 12 || fail "a place twice: $(cat out.txt)"
says out.txt '| cifar10 | 1, 1 | 0.0100 | 0.0100 | 1.00 |'
says out.txt '| cifar10 | 8, 4 | 0.0800 | 0.0800 | 1.00 |'
says out.txt '| cifar10 | 16, 16 | 0.1200 | 0.1200 | 1.00 |'
says out.txt 'cifar10: 0 % off in the mean of 12 places'
places
awk -F'|' '/^\| cifar10/ { e += ($6 > 1 ? $6 - 1 : 1 - $6); n++ } /off in the mean/ { split($0, word, " "); said = word[2] }
    END { exit !(n == 12 && said > 20 && said - 100 * e / n < 1 && 100 * e / n - said < 1) }' out.txt || fail "errors: $(cat out.txt)"
echo "$((checks + 3)) checks"
