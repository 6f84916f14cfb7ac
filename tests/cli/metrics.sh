#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every metric of a profile is in the table of who reads it (docs/schedulers-sharing.md), and is read there.
. "$DLSIM_SOURCE/tests/support/cli.sh"
readers=$source/docs/schedulers-sharing.md
for name in gpu_mem gpu net_rx net_tx; do
    for part in idle active peak; do
        metric=${name}_$part
        by=$(sed -n "s/^| \`$metric\` | \([^|]*\) | .*/\1/p" "$readers" | tr -d '`')
        test -n "$by" || fail "$metric is not in the table"
        symbol=DLS_${metric^^}
        grep -q "\b$symbol\b" "$source/sim/include/dlsim/predictor.h" || fail "there is no $symbol"
        grep -qw "$symbol" "$source/$by" || fail "$by does not read $metric"
        checks=$((checks + 1))
    done
done
test $checks -eq 12 || fail "$checks metrics"
echo "$checks checks"
