#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# dlsim model and dlsim predict: the ordinary uses, and what they refuse with which exit code.
set -euo pipefail
dlsim=$1
sample=$DLSIM_SOURCE/tests/golden/inspector
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }
# expect CODE TEXT COMMAND...: exit code, and text in what it prints
expect() {
  local code=$1 text=$2 got=0
  shift 2
  "$@" >"$dir/log" 2>&1 || got=$?
  [ "$got" = "$code" ] || { cat "$dir/log"; fail "exit $got, expected $code: $*"; }
  [ -z "$text" ] || grep -q -- "$text" "$dir/log" || { cat "$dir/log"; fail "no \"$text\" from: $*"; }
}

expect 0 "Usage: dlsim predict" "$dlsim" predict --help
expect 0 "Usage: dlsim model" "$dlsim" model --help
expect 0 "3 settings" "$dlsim" model show "$sample/weights.h5"

ask=("$dlsim" predict "--input=$sample/graphs.h5" --backend=cpu)
expect 0 "inspector on cpu" "${ask[@]}" "--weights=$sample/weights.h5" -o "$dir/out.h5"
[ -s "$dir/out.h5" ] && [ -z "$(ls "$dir" | grep -v "^out.h5$" | grep out.h5)" ] || fail "no output file"
"${ask[@]}" "--weights=$sample/weights.h5" -q --json --setting=setting1 >"$dir/json" 2>"$dir/err"
[ ! -s "$dir/err" ] || fail "--quiet talks"
[ "$(grep -c '"setting": "setting1"' "$dir/json")" = 7 ] || fail "7 graphs expected"
if command -v python3 >/dev/null; then
  python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))) == 7' "$dir/json" ||
    fail "not JSON"
fi
expect 0 "^/small 0 base " "${ask[@]}" "--weights=$sample/weights.h5" -q --setting=base

expect 2 "needed" "$dlsim" predict --weights=x.h5
expect 2 "expected f32, f64 or fast" "${ask[@]}" "--weights=$sample/weights.h5" --precision=f16
expect 2 "no setting" "${ask[@]}" "--weights=$sample/weights.h5" --setting=nobody
expect 4 "No such file" "${ask[@]}" "--weights=$dir/none.h5"
expect 4 "not an inspector file" "${ask[@]}" "--weights=$sample/graphs.h5"
expect 4 "no group" "$dlsim" predict "--weights=$sample/weights.h5" "--input=$sample/weights.h5"
expect 5 "nowhere" "${ask[@]}" "--weights=$sample/weights.h5" -o "$dir/nowhere/out.h5"
DLSIM_CUDA_MODULE=$dir/none.so expect 6 "does not open" \
  "${ask[@]}" "--weights=$sample/weights.h5" --backend=cuda
DLSIM_CUDA_MODULE=$dir/none.so expect 0 "does not open" \
  "${ask[@]}" "--weights=$sample/weights.h5" --backend=auto
printf 'not hdf5' >"$dir/text.h5"
expect 4 "not an HDF5 file" "${ask[@]}" "--weights=$dir/text.h5"

expect 0 "" "$dlsim" model random -o "$dir/r.h5" --arch="conv=gin hidden=16" --seed=4 --settings=2
expect 0 "gin" "$dlsim" model show "$dir/r.h5"
expect 0 "" "$dlsim" model random -o "$dir/s.h5" --arch="conv=gin hidden=16" --seed=4 --settings=2
cmp "$dir/r.h5" "$dir/s.h5" || fail "the same seed, other bytes"
expect 4 "expected one of" "$dlsim" model random --force -o "$dir/r.h5" --arch="conv=cnn"
expect 4 "no key" "$dlsim" model random --force -o "$dir/r.h5" --arch="hiden=3"
expect 2 "12 numbers" "$dlsim" model random --force -o "$dir/r.h5" --label-scale=1,2
expect 2 "--output is needed" "$dlsim" model random
expect 2 "did you mean 'import'" "$dlsim" model inport
expect 4 "one or two dimensions" "$dlsim" model import "$sample/graphs.h5" --group=/small -o "$dir/i.h5"
# The tensors of an inspector file are themselves a plain file of named tensors.
expect 0 "" "$dlsim" model import "$sample/weights.h5" --group=/base/tensors -o "$dir/i.h5" \
  "--setting=mine=$sample/weights.h5:/settings/setting1/tensors" \
  --about=mine:gpu=V100,ps=5,workers=10,topology=rack,network=25G
expect 0 "setting mine: gpu V100, 5 parameter servers, 10 workers" "$dlsim" model show "$dir/i.h5"
"${ask[@]}" "--weights=$dir/i.h5" -q --setting=mine | sed 's/ mine / X /' >"$dir/a"
"${ask[@]}" "--weights=$sample/weights.h5" -q --setting=setting1 | sed 's/ setting1 / X /' >"$dir/b"
cmp "$dir/a" "$dir/b" || fail "an imported setting predicts otherwise"
echo ok
