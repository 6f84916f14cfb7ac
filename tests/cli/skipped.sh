#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What tests leave out is told before ctest's summary, whose status stays (tests/skipped.sh).
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/bin" "$folder/Testing/Temporary"
cat >"$folder/bin/ctest" <<'EOF'
#!/bin/sh
echo "1/3 Test #1: a ... Passed"
echo "67% tests passed, 1 tests failed out of 3"
echo "The following tests FAILED:"
exit 8
EOF
chmod +x "$folder/bin/ctest"
cat >"$folder/Testing/Temporary/LastTest.log" <<'EOF'
1/3 Test: unit.a
skipped: published data not found (DLSIM_SHARED): data/one
skipped: published data not found (DLSIM_SHARED): data/two
2/3 Test: unit.b
not skipped: this
skipped: published data not found (DLSIM_SHARED): data/one
3/3 Test: cli.c
skipped: no chromium
EOF
status=0
PATH=$folder/bin:$PATH bash "$DLSIM_SOURCE/tests/skipped.sh" "$folder" >"$folder/out" || status=$?
cat >"$folder/want" <<'EOF'
1/3 Test #1: a ... Passed
3 skipped: published data not found (DLSIM_SHARED)
    unit.a unit.b
1 skipped: no chromium
    cli.c
67% tests passed, 1 tests failed out of 3
The following tests FAILED:
EOF
diff "$folder/want" "$folder/out"
[ "$status" -eq 8 ] || { echo "status $status"; exit 1; }
# Nothing is left out, nothing is said.
echo "1/1 Test: unit.a" >"$folder/Testing/Temporary/LastTest.log"
PATH=$folder/bin:$PATH bash "$DLSIM_SOURCE/tests/skipped.sh" "$folder" >"$folder/out" || true
[ "$(wc -l <"$folder/out")" -eq 3 ]
# Of two folders both are tested; what fails is told last, and is the status.
mkdir -p "$folder/well"
cat >"$folder/bin/ctest" <<'EOF'
#!/bin/sh
case $2 in *well) echo "100% tests passed, 0 tests failed out of 9"; exit 0 ;; esac
echo "67% tests passed, 1 tests failed out of 3"
exit 8
EOF
for both in "$folder,$folder/well" "$folder/well,$folder"; do
    status=0
    PATH=$folder/bin:$PATH bash "$DLSIM_SOURCE/tests/skipped.sh" "$both" >"$folder/out" || status=$?
    printf '%s\n' "== $folder/well" "100% tests passed, 0 tests failed out of 9" "== $folder" \
        "67% tests passed, 1 tests failed out of 3" | diff - "$folder/out"
    [ "$status" -eq 8 ] || { echo "status $status of two folders"; exit 1; }
done
