#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The two engines, written apart, agree where the reference has no defect, and differ where it has:
# per-job start, end and waiting time of every job of the shipped sample, through the results files.
set -eu
dlsim=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/modes.cfg" <<'CFG'
schema_version = 1;
cluster = { nodes = ( { name = "n"; count = 32; gpus = 8; gpu_type = "V100"; rack_size = 32;
                        cpus = 96; memory = "256 GiB"; } ); };
CFG
run() { # mode scheduler placement output
    "$dlsim" --config="$dir/modes.cfg" --trace="$DLSIM_SOURCE/traces/samples/philly_like_5000.csv" \
        --scheduler="$2" --placement="$3" --set scheduler.restore_cost=0 --set run.compat="$1" \
        --quiet --force -o "$dir/$4" >/dev/null
}
column() { # file column
    "$dlsim" inspect "$dir/$1" --jobs=100000 | awk 'NR > 1 {print $1, $5, $6, $7, $8}' |
        grep -E '^[0-9]' | sort -n
}
bad=0
same() { # scheduler compat-name placement expect
    run none "$1" "$3" a.h5
    run tiresias "$2" "$3" b.h5
    column a.h5 >"$dir/a"
    column b.h5 >"$dir/b"
    n=$(wc -l <"$dir/a")
    differ=$(diff "$dir/a" "$dir/b" | grep -c '^<' || true)
    echo "$1/$3: $n jobs, $differ differ"
    [ "$n" = 5000 ] || bad=1
    if [ "$4" = equal ]; then
        [ "$differ" = 0 ] || bad=1
    else
        [ "$differ" != 0 ] || bad=1
    fi
}
same fifo fifo count equal
same fjf fjf count equal
same sjf sjf count equal
same srtf shortest count equal
same srsf shortest-gpu count equal
same dlas dlas count equal
same fifo fifo yarn equal
same fjf fjf yarn equal
same dlas-gpu dlas-gpu count differ
exit $bad
