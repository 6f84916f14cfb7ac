# SPDX-License-Identifier: GPL-3.0-or-later
# The commands of README.md and of the manual page work as they are printed; the page is well formed.
. "$DLSIM_SOURCE/tests/support/cli.sh"

# Code blocks of the README, lines that begin with "dlsim", continued lines joined; run in a copy of
# what they name.
cp -r "$source/configs" "$source/traces" .
on_path
page_commands "$source/README.md" >readme.txt
sed -n '/^\.Bd/,/^\.Ed/p' "$source/docs/dlsim.1" | sed -e 's/\\e$/\\/' |
    sed -e ':a' -e '/\\$/N; s/\\\n//; ta' | grep '^dlsim ' | grep -v 'my.cfg' >>readme.txt
while read -r line; do
    rm -f run.h5
    case $line in *compare* | *inspect* | *report* | *export*) cp kept/*.h5 . ;; esac
    bash -e -c "$line" >out.txt 2>err.txt </dev/null || fail "$line: $(cat err.txt)"
    mkdir -p kept
    cp ./*.h5 kept 2>/dev/null || true
    checks=$((checks + 1))
done <readme.txt
test $checks -ge 6 || fail "only $checks commands"

# The two simulators, on the cluster that docs/modes.md describes.
awk -F, '/^#/ { next }
         !head { head = 1; print "job_id,num_gpu,submit_time,duration,model_name,iterations,interval"; next }
         { print $1 "," $2 "," $3 "," $4 ",resnet50,1,1" }' "$source/traces/samples/philly_like_5000.csv" >jobs.csv
cat >modes.cfg <<'CFG'
schema_version = 1;
cluster = { nodes = ( { name = "n"; count = 32; gpus = 8; gpu_type = "V100"; } ); };
CFG
run_page "$source/docs/modes.md"

# A script runs the commands of every page that shows some.
for page in "$source"/docs/*.md; do
    name=$(basename "$page")
    grep -q '^```sh' "$page" || continue
    case $name in
    figures.md) continue ;;         # whole studies; figures.sh draws all from small ones
    placement-study.md) continue ;; # the same; whatif.sh resolves it
    performance.md) continue ;;     # benchmarks, which the suite runs small
    sweeps.md) grep -q 'docs/sweeps.md" |' "$source/tests/cli/sweep_recipes.sh" && continue ;;
    library.md) grep -q 'pkg-config --cflags --libs --static dlsim' "$source/tests/install/consumer.sh" && continue ;;
    operator.md) grep -q 'run_page "$doc"' "$source/tests/cli/operators.sh" && continue ;;
    *) grep -q "run_page \"\$source/docs/$name\"" "$source"/tests/cli/*.sh && continue ;;
    esac
    fail "no script runs the commands of docs/$name"
done

if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$source/docs/dlsim.1" || fail "the manual page"
fi
# Both list the same exit codes.
"$dlsim" --help | sed -n '/Exit codes:/,$p' | grep -oE '(^|[ :])[0-9]+ [a-z]' | grep -oE '[0-9]+' >codes.txt
sed -n '/^\.Sh EXIT STATUS/,/^\.El/s/^\.It //p' "$source/docs/dlsim.1" >page_codes.txt
test "$(wc -l <codes.txt)" -ge 9 || fail "few exit codes: $(cat codes.txt)"
diff codes.txt page_codes.txt || fail "exit codes of --help and of the manual page"
# The page's section about commands is what the program prints.
"$dlsim" help --json | python3 "$source/docs/manual.py" >commands.mdoc
sed -n '/^\.Sh COMMANDS/,/^\.Sh CONFIGURATIONS/p' "$source/docs/dlsim.1" | sed '1d;$d' >page.mdoc
test "$(wc -l <page.mdoc)" -gt 300 || fail "the page has no section about commands"
diff commands.mdoc page.mdoc >diff.txt ||
    fail "docs/dlsim.1: put the output of 'dlsim help --json | python3 docs/manual.py' there: $(head -5 diff.txt)"
bash -n "$source/cmake/dlsim.bash"
(
    # shellcheck disable=SC1091
    . "$source/cmake/dlsim.bash"
    COMP_WORDS=(dlsim --scheduler = dlas-)
    COMP_CWORD=3
    _dlsim
    test "${COMPREPLY[*]}" = "dlas-gpu" || fail "completion gives '${COMPREPLY[*]}'"
    COMP_WORDS=(dlsim stu)
    COMP_CWORD=1
    _dlsim
    test "${COMPREPLY[*]}" = "study" || fail "completion gives '${COMPREPLY[*]}'"
    COMP_WORDS=(dlsim sweep sta)
    COMP_CWORD=2
    _dlsim
    test "${COMPREPLY[*]}" = "status" || fail "completion gives '${COMPREPLY[*]}'"
    COMP_WORDS=(dlsim trace generate --queue)
    COMP_CWORD=3
    _dlsim
    test "${COMPREPLY[*]}" = "--queueing" || fail "completion gives '${COMPREPLY[*]}'"
    COMP_WORDS=(dlsim graph show lenet --precision = f)
    COMP_CWORD=6
    _dlsim
    test "${COMPREPLY[*]}" = "fp32 fp16" || fail "completion gives '${COMPREPLY[*]}'"
    COMP_WORDS=(dlsim export run.h5 --table = s)
    COMP_CWORD=5
    _dlsim
    test "${COMPREPLY[*]}" = "series starts" || fail "completion gives '${COMPREPLY[*]}'"
)
echo "$checks commands"
