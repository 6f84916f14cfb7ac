#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The Python of docs/results.md, run as it stands there on a file that dlsim writes.
set -eu
dlsim=$1
python=/usr/bin/python3
if ! $python -c 'import h5py, pandas' 2>/dev/null; then
    echo "skipped: $python has no h5py and pandas"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^```python$/ {on = 1; next} /^```$/ {on = 0} on' "$DLSIM_SOURCE/docs/results.md" >"$work/example.py"
[ -s "$work/example.py" ]
"$dlsim" --config="$DLSIM_SOURCE/configs/quickstart.cfg" \
    --trace="$DLSIM_SOURCE/traces/samples/quick_60.csv" --quiet --json -o "$work/run.h5" >"$work/run.json"
$python "$work/example.py" "$work/run.h5" >"$work/out"
cat "$work/out"
# The mean that pandas finds is the summary's, the digest that of the run.
$python - "$work/run.json" "$work/out" <<'END'
import json, sys
text = open(sys.argv[1]).read()
summary = json.loads(text)
out = dict(line.split() for line in open(sys.argv[2]))
jct = next(p for p in summary["parts"] if p["kind"] == "all")["jct_mean_s"]
assert abs(float(out["jct_mean_s"]) - jct) < 1e-6 * jct, (out, jct)
assert summary["digest"] in out.values(), out
END
# Every dataset says what it holds, in which units.
$python - "$work/run.h5" <<'END'
import h5py, sys
def check(name, item):
    if isinstance(item, h5py.Dataset):
        assert item.attrs["description"], name
        assert "units" in item.attrs, name
with h5py.File(sys.argv[1]) as f:
    assert f.attrs["format"].decode() == "dlsim-results" and f.attrs["format_version"] == 3
    f.visititems(check)
    jobs = next(iter(f["runs"].values()))["jobs"]
    assert len({len(c) for c in jobs.values()}) == 1
    assert h5py.check_enum_dtype(jobs["state"].dtype)["finished"] == 3
END
