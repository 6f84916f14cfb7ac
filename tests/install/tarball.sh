#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The archive with the static program: nothing of the machine is linked; it runs where nothing else is (as root, in a
# root that holds the archive alone), finds its data, and refuses plug-ins. Usage: tarball.sh BUILD_DIR CC
set -eu
build=$1
if [ ! -e "$build/alone/dlsim" ]; then
    echo "skipped: no archives of the libraries to link statically with, or a sanitized build"
    exit 77
fi
. "$DLSIM_SOURCE/tests/support/install.sh"
cd "$work"
tar -xzf "$(sh "$DLSIM_SOURCE/packaging/tarball.sh" "$build" "$work")"
alone=$(echo "$work"/dlsim-[0-9]*-linux-*/)
readelf -d "$alone/bin/dlsim" | grep -q NEEDED && fail "libraries are needed"
readelf -l "$alone/bin/dlsim" | grep -q INTERP && fail "a loader is needed"
share=$alone/share/dlsim
ask="--trace=$share/traces/samples/quick_60.csv --scheduler=srtf -q --json"
digest() { grep -o '"digest": *"[^"]*"' "$1"; }
# shellcheck disable=SC2086 # words are options
"$build/dlsim" --config="$share/configs/quickstart.cfg" $ask >linked.json
env -i "$alone/bin/dlsim" --config="$share/configs/quickstart.cfg" $ask -o run.h5 >alone.json || fail "a run"
test "$(digest alone.json)" = "$(digest linked.json)" || fail "another result than the program's"
"$build/dlsim" inspect run.h5 >/dev/null || fail "its results file"
env -i "$alone/bin/dlsim" --config="$share/configs/placement-study.cfg" --placement=driple --predictor=driple \
    --set trace.max_jobs=60 -q || fail "a run with the inspector"
env -i "$alone/bin/dlsim" list schedulers --plugin=/lib/any.so 2>said && fail "a plug-in was taken"
grep -q "linked statically" said || fail "about plug-ins: $(cat said)"
# Where there is no mold the compiler's own linker asks for archives in the order of who needs whom.
for target in dlsim dlsim_alone; do
    if [ -e "$build/build.ninja" ]; then
        link=$(ninja -C "$build" -t commands $target | tail -n 1 | sed "s/-fuse-ld=mold//; s|-o [^ ]*|-o $work/$target|")
        (cd "$build" && sh -c "$link") 2>said || fail "$target by the compiler's own linker: $(head -n 5 said)"
        "$work/$target" version >/dev/null || fail "$target by the compiler's own linker does not run"
    fi
done
if [ "$(id -u)" = 0 ] && command -v chroot >/dev/null; then
    chroot "$alone" /bin/dlsim --config=/share/dlsim/configs/quickstart.cfg \
        --trace=/share/dlsim/traces/samples/quick_60.csv --scheduler=srtf -q --json >empty.json || fail "in an empty root"
    test "$(digest empty.json)" = "$(digest linked.json)" || fail "another result in an empty root"
else
    echo "skipped: not root, the empty root"
fi
echo "$(du -k "$work"/*.tar.gz | cut -f1) KiB"
