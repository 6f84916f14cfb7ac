# SPDX-License-Identifier: GPL-3.0-or-later
# The shipped inspector on test graphs that are built again: as good as docs/inspectors.md says.
. "$DLSIM_SOURCE/tests/support/cli.sh"
weights=$source/predictor/inspectors/dlsim.h5
hw=--hardware="$source/configs/hardware"
test "$(wc -c <"$weights")" -lt 10000000 || fail "the weights are larger than 10 MB"
expect 0 model show "$weights"
says out.txt "told of a setting"

# The test graphs of what make.sh builds, in two of its settings. Random models are left out: none of
# them is in the test split, and the inspector says what features are to be made of the graphs.
samples=$(grep -o -m 1 -e '--samples=[0-9]*' "$source/predictor/inspectors/make.sh")
expect 0 dataset build --settings=all "$samples" --weights="$weights" "$hw" -o d.h5 -q \
    --setting=V100-w1 --setting=P100-w8-ar-eth10
expect 0 evaluate --weights="$weights" --dataset=d.h5 "$hw"
sed -n '/<!-- evaluate -->/,/<!-- end -->/p' "$source/docs/inspectors.md" >published.txt
for setting in V100-w1 P100-w8-ar-eth10; do
    grep "^$setting " out.txt >now.txt || fail "$setting was not evaluated"
    grep "^$setting " published.txt >then.txt || fail "docs/inspectors.md has no $setting"
    # name, graphs; of all metrics: inspector, floor, operator model, nearest, mean; of the step time: the first four
    paste now.txt then.txt | awk '{
        n = split("2 3 4 5 8 9 10", same, " ")
        for (i = 1; i <= n; i++) { d = $same[i] - $(11 + same[i]); if (d < -0.0011 || d > 0.0011) exit 1 }
        if (!($3 < 0.6 * $17 && $8 < 0.6 * $22)) exit 2 # far better than the nearest graph
    }' || fail "now: $(cat now.txt) published: $(cat then.txt)"
    checks=$((checks + 1))
done
echo "$checks checks"
