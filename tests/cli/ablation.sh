# SPDX-License-Identifier: GPL-3.0-or-later
# The study of what the graph is worth (docs/inspectors.md), small: every kind of labels, both kinds of outputs.
. "$DLSIM_SOURCE/tests/support/cli.sh"
command -v python3 >/dev/null || exit 77
study() {
    python3 "$source/predictor/inspectors/ablation.py" --dlsim="$dlsim" --seeds=2 --epochs=2 --groups=1,2 --graphs=34 \
        --random-models=8 "$@" >out.txt || fail "ablation.py $*"
    test "$(grep -c '^| ' out.txt)" -eq "$rows" || fail "ablation.py $*: $(cat out.txt)"
    checks=$((checks + 1))
}
rows=4 study --labels=measured --features=own
rows=4 study --labels=sized --relative --features=kernels
rows=5 study --labels=simulated --features=driple
says out.txt "| every kernel | justus |"
echo "$checks checks"
