#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What holds for every source file: who may include whom (docs/ARCHITECTURE.md), that it opens with its
# licence and what it is for, and how long files, functions and the explanations of words may be.
set -eu
cd "$DLSIM_SOURCE"
allowed() {
    case $1 in
    sim/base) echo base ;;
    sim/cluster) echo base cluster ;;
    sim/record) echo base record ;;
    sim/workload/graph) echo base workload/graph ;;
    sim/workload/operator) echo base cluster workload/graph workload/operator ;;
    sim/workload) echo base cluster workload/graph workload/operator workload ;;
    sim/world) echo base cluster record workload workload/graph workload/operator world ;;
    sim/sched) echo sched ;;
    placement) echo placement ;;
    traces) echo base traces ;;
    sim/engine) echo base cluster record workload world predictor/sources engine ;;
    sim/tiresias) echo base cluster record tiresias ;;
    sim/elasticflow) echo base cluster record workload sched elasticflow ;;
    sim/muri) echo base sched muri ;;
    sim/fgd) echo base placement fgd ;;
    sim/lucid) echo base lucid ;;
    sim/pollux) echo base sched pollux ;;
    sim/gavel) echo base sched workload/graph gavel ;;
    results) echo base cluster record results ;;
    sim/config) echo base cluster world workload workload/operator predictor/sources traces engine tiresias config ;;
    sim/api) echo base cluster record world traces engine config results api ;;
    sim/site) echo base traces site ;;
    sim/sweep) echo base cluster record config results api sweep ;;
    # The program uses the library as anybody does, and what all of the tree shares.
    sim/cli) echo base cli ;;
    predictor/driple) echo base predictor/driple ;;
    predictor/measure) echo base workload/graph predictor/measure ;;
    predictor/dataset) echo base cluster workload/graph workload/operator predictor/measure predictor/dataset ;;
    predictor/training) echo base predictor/driple predictor/dataset predictor/training ;;
    predictor/baselines) echo base cluster workload/graph workload/operator predictor/driple predictor/dataset predictor/training predictor/baselines ;;
    predictor/sources) echo base cluster record workload world predictor/driple workload/graph workload/operator predictor/baselines predictor/dataset predictor/sources ;;
    predictor/measured) echo base cluster workload workload/graph workload/operator predictor/baselines predictor/dataset predictor/sources predictor/measured ;;
    # The laboratory's commands use what they exercise, and nothing of the simulator: no engine, world, configuration, results.
    predictor/cli) echo base workload/graph workload/operator predictor/driple predictor/measure predictor/dataset predictor/training predictor/baselines predictor/sources predictor/measured cli predictor/cli ;;
    python/src) echo ;;
    *) return 1 ;;
    esac
}
bad=0
for dir in sim/* sim/workload/* placement traces results predictor/* python/src; do
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
# Each folder's README says what may be touched there, and names the tests that guard it.
for dir in sim/[!iw]* sim/include/dlsim sim/workload sim/workload/* sim/world placement traces results predictor/*; do
    ls "$dir"/*.[ch] >/dev/null 2>&1 || continue
    tests=$(sed -n 's/^Tests: //p' "$dir/README.md" 2>/dev/null | grep -oE '[a-z]+\.[a-z_0-9]+') || tests=
    for test in ${tests:-none}; do
        [ "$test" = install.consumer ] || ls "tests/${test%%.*}/${test#*.}".* >/dev/null 2>&1 || {
            echo "$dir/README.md must say \`Tests: unit.test_x, cli.y.\`, tests that exist; it says: $test"
            bad=1
        }
    done
done
# At the top stand the project's own files alone, none that a test or a run left.
for file in $(git ls-files 2>/dev/null | grep -v /); do
    case $file in
    .clang-format | .gitignore | CHANGELOG.md | CITATION.cff | CMakeLists.txt | CMakePresets.json | LICENSE | Makefile | \
        README.md | mkdocs.yml | pyproject.toml) ;;
    *)
        echo "$file: does not belong at the top"
        bad=1
        ;;
    esac
done
# Every C and CUDA file opens with "/* SPDX..., *, * What it is for"; every script with two such lines.
find sim placement traces results predictor plots python tests cmake -type f \
    \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.py' -o -name '*.sh' \) ! -path '*/build/*' -print0 |
    xargs -0 awk '
        function ends() {
            if (file != "" && !said) {
                print file " does not open with its licence and what it is for"
                bad = 1
            }
        }
        FNR == 1 { ends(); file = FILENAME; said = head = 0; script = file ~ /\.(py|sh)$/ }
        script && FNR <= 6 && /^# [^!]|^"""[A-Za-z]/ && !/SPDX/ { said = 1 }
        !script && FNR == 1 && /^\/\* SPDX-License-Identifier: [^ ]+$/ { head = 1 }
        !script && FNR == 3 && head && /^ \* +[^ ]/ { said = 1 }
        FNR == 6 { nextfile }
        END { ends(); exit bad }' || bad=1
# No line of an installed header has more than 120 columns, no file of the program more than 600 lines, and no
# function more than 60 unless the comment above it says why it is "One function".
find sim placement traces results predictor python \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) -print0 |
    xargs -0 awk '
        FNR == 1 { start = why = 0 }
        length > 120 && FILENAME ~ /^sim\/include/ { print FILENAME ":" FNR ": more than 120 columns"; bad = 1 }
        FNR == 601 { print FILENAME ": more than 600 lines"; bad = 1 }
        /^\/\*/ { why = 0 }
        /One$|One function/ { why = 1 }
        /^\{$/ { start = FNR }
        /^\}/ {
            if (start && FNR - start - 1 > 60 && !why) {
                print FILENAME ":" start ": a function of " FNR - start - 1 " lines"
                bad = 1
            }
            start = why = 0
        }
        END { exit bad }' || bad=1
# Every function is called by the program: its name stands in code elsewhere than at its definition and its declaration, and
# neither a call in a test nor a mention in a comment counts. But for those of which tests alone have need:
only_tests=" dls_alloc_set_hook "      # refuses allocations
only_tests+=" dls_sim_run "            # a whole run in one call
only_tests+=" dls_trace_parse "        # a trace from memory: what the fuzzer feeds
only_tests+=" dls_mlp_gradient "       # against differences
only_tests+=" dls_muri_group "         # against the program's groups, where its runs would tell only that some differ
only_tests+=" dls_world_cost_so_far "  # counts what settling looks at
sources=$(find sim placement traces results predictor python \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' \) \
    ! -path '*/build/*')
code() { perl -0777 -pe 's{("(?:\\.|[^"\\])*"|\x27(?:\\.|[^\x27\\])*\x27)|/\*.*?\*/|//[^\n]*}{$1 // " "}gse' "$@"; }
used=$(code $sources | grep -ohE '\bdls_[a-z0-9_]+\b' | sort | uniq -c | awk '$1 > 2 { print $2 }')
for name in $(grep -ohE '^[a-z].*\bdls_[a-z0-9_]+\(' $(grep -v '\.h$' <<<"$sources") | grep -oE 'dls_[a-z0-9_]+\($' | tr -d '(' |
    sort -u | comm -23 - <(echo "$used")); do
    case $only_tests in *" $name "*) continue ;; esac
    grep -qrw "DLS_API.*$name" sim/include/dlsim || { echo "$name: called by nobody but tests"; bad=1; }
done
# A stranger reads the words of the project once: none is explained in more than 20.
awk -F'|' '
    /^## / { words = /^## Words/ }
    words && NF == 4 && split($3, word, " ") > 20 { print "docs/ARCHITECTURE.md: too long: " $0; bad = 1 }
    words && NF == 4 { n++ }
    END { exit bad || n < 20 }' docs/ARCHITECTURE.md || bad=1
[ $bad = 0 ] && echo "includes follow the layers, and every file says what it is for"
exit $bad
