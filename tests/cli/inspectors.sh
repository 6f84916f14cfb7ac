# SPDX-License-Identifier: GPL-3.0-or-later
# The shipped inspectors on test graphs that are built again: as good as docs/inspectors.md says.
. "$DLSIM_SOURCE/tests/support/cli.sh"
weights=$source/predictor/inspectors/dlsim.h5
test "$(wc -c <"$weights")" -lt 10000000 || fail "the weights are larger than 10 MB"
expect 0 model show "$weights"
test "$(grep -c '^setting ' out.txt)" -eq 122 || fail "not 122 settings"

# What make.sh builds, of it two settings.
build=$(sed -n '/dataset build/,/[^\\]$/p' "$source/predictor/inspectors/make.sh" | tr -d '\\\n' |
    sed 's/.*\(--settings=all.*\) *--hardware.*/\1/')
# shellcheck disable=SC2086
expect 0 dataset build $build --hardware="$source/configs/hardware" -o d.h5 -q \
    --setting=V100-w1 --setting=P100-w8-ar-eth10
expect 0 evaluate --weights="$weights" --dataset=d.h5
sed -n '/<!-- evaluate -->/,/<!-- end -->/p' "$source/docs/inspectors.md" >published.txt
for setting in V100-w1 P100-w8-ar-eth10; do
    grep "^$setting " out.txt >now.txt || fail "$setting was not evaluated"
    grep "^$setting " published.txt >then.txt || fail "docs/inspectors.md has no $setting"
    paste now.txt then.txt | awk '{
        n = NF / 2
        for (i = 2; i <= n; i++) { d = $i - $(n + i); if (d < -0.0011 || d > 0.0011) exit 1 }
        if (!($3 < $5)) exit 2 # not better than the nearest graph
    }' || fail "now: $(cat now.txt) published: $(cat then.txt)"
    checks=$((checks + 1))
done
echo "$checks checks"
