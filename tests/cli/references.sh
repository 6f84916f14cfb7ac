#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Replays of Gavel, Shockwave, Pollux's baselines and ElasticFlow against independent references, on random
# workloads and clusters; more than these seeds by tests/differential/scheduler_cases.py.
. "$DLSIM_SOURCE/tests/support/cli.sh"
for tool in gavel elastic elasticflow; do
    [ -f "${DLSIM_SHARED:-none}/tools/${tool}_reference.py" ] || {
        echo "skipped: no references"
        exit 77
    }
done
last=$((${DLSIM_SANITIZE:-0} ? 2 : 5)) # seeds
python3 "$source/tests/differential/scheduler_cases.py" "$dlsim" "$DLSIM_SHARED" 1 $last || fail "not as the references"
