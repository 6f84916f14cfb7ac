#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Who may include whom (docs/ARCHITECTURE.md): every #include "folder/..." is checked.
set -eu
cd "$DLSIM_SOURCE"
allowed() {
    case $1 in
    sim/base) echo base ;;
    sim/engine) echo base engine ;;
    sim/model) echo base engine model ;;
    predictor/driple) echo base predictor/driple ;;
    predictor/graph) echo base predictor/graph ;;
    predictor/operator) echo base model predictor/graph predictor/operator ;;
    predictor/baselines) echo base model predictor/graph predictor/operator predictor/driple predictor/dataset predictor/training predictor/baselines ;;
    predictor/measure) echo base predictor/graph predictor/measure ;;
    predictor/dataset) echo base model predictor/graph predictor/operator predictor/measure predictor/dataset ;;
    predictor/training) echo base predictor/driple predictor/dataset predictor/training ;;
    sim/perf) echo base engine model predictor/graph predictor/operator perf ;;
    sim/foresight) echo base model perf predictor/driple predictor/graph predictor/operator predictor/baselines predictor/dataset foresight ;;
    placement) echo base model placement ;;
    sim/sched) echo base sched ;;
    traces) echo base traces ;;
    sim/run) echo base engine model perf foresight placement run ;;
    sim/sweep) echo base model config results sweep ;;
    sim/compat) echo base engine model compat ;;
    results) echo base model results ;;
    sim/config) echo base model perf foresight traces run compat config ;;
    sim/cli) echo base model perf foresight traces run compat config results sweep predictor/driple predictor/graph predictor/operator predictor/measure predictor/baselines predictor/dataset predictor/training cli ;;
    *) return 1 ;;
    esac
}
bad=0
for dir in sim/* placement traces results predictor/*; do
    ls "$dir"/*.[ch] >/dev/null 2>&1 || continue
    [ "$dir" = sim/include ] && continue
    if ! folders=$(allowed "$dir"); then
        echo "$dir: not in the table of layers"
        bad=1
        continue
    fi
    while IFS=: read -r file header; do
        folder=${header%/*}
        case " $folders dlsim " in
        *" $folder "*) ;;
        *)
            [ "$folder" = "$header" ] && continue # generated or beside the file
            echo "$file includes $header: $dir may include only: $folders"
            bad=1
            ;;
        esac
    done < <(grep -Ho '#include "[^"]*"' "$dir"/*.[ch] | sed 's/#include "//; s/"$//')
done
[ $bad = 0 ] && echo "includes follow the layers"
exit $bad
