# SPDX-License-Identifier: GPL-3.0-or-later
# figures.sh BUILD_DIR CC: figures and reports by an installed program, far from the sources.
set -eu
build=$1
. "$DLSIM_SOURCE/tests/support/install.sh"

sh "$DLSIM_SOURCE/plots/python.sh" >/dev/null 2>&1 || {
    echo "skipped: no Python with matplotlib"
    exit 77
}
install_build "$build"
chmod -R a-w "$prefix/share"
mkdir "$work/here"
cd "$work/here"
unset DLSIM_PLOTS DLSIM
dlsim=$prefix/bin/dlsim

# Sweeps with their traces, the operator model's tables and the shipped inspector.
"$dlsim" reproduce --list >list.txt
for script in "$DLSIM_SOURCE"/plots/*.run; do
    name=$(basename "$script" .run)
    grep -q "^$name " list.txt || fail "$name is not installed"
done
"$dlsim" reproduce tiresias_example driple_cases --small --formats=png -j 2 -o drawn >rows.txt 2>err.txt ||
    fail "reproduce: $(cat err.txt)"
for picture in tiresias_example driple_cases; do
    test -s drawn/$picture.png || fail "no $picture.png"
done
grep -q '^| average JCT under SRSF (units) | 9.3 | 9.33 |$' rows.txt || fail "rows: $(cat rows.txt)"

# A script alone.
python=$(sh "$prefix/share/dlsim/plots/python.sh")
"$python" -B "$prefix/share/dlsim/plots/tiresias_example.py" -o alone \
    drawn/data/tiresias_example-small/tiresias_example.h5 >alone.txt
test -s alone/tiresias_example.pdf || fail "the script draws nothing"
grep -qxFf alone.txt rows.txt || fail "the script prints other rows"

if sh "$prefix/share/dlsim/plots/python.sh" plotly >/dev/null 2>&1; then
    "$dlsim" --config="$prefix/share/dlsim/configs/quickstart.cfg" -q -o run.h5 \
        --trace="$prefix/share/dlsim/traces/samples/quick_60.csv"
    "$dlsim" report run.h5 -o page.html
    test -s page.html || fail "no report"
fi
echo "figures and reports from an installed tree: good"
