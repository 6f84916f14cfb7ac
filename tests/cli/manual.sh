# SPDX-License-Identifier: GPL-3.0-or-later
# The commands of README.md and of the manual page work as they are printed; the page is well formed.
. "$DLSIM_SOURCE/tests/support/cli.sh"

# Code blocks of the README, lines that begin with "dlsim", continued lines joined; run in a copy of
# what they name.
cp -r "$source/configs" "$source/traces" .
mkdir bin
ln -s "$(realpath "$dlsim")" bin/dlsim
PATH=$work/bin:$PATH
sed -n '/^```sh/,/^```/p' "$source/README.md" | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' |
    grep '^dlsim ' >readme.txt || fail "README.md shows no command"
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

if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$source/docs/dlsim.1" || fail "the manual page"
fi
# Every long option of run is on the page.
"$dlsim" run --help | grep -o -- '--[a-z][a-z-]*' | sort -u | while read -r option; do
    grep -q -- "Fl -${option#--}" "$source/docs/dlsim.1" || fail "$option is not in docs/dlsim.1"
done
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
)
echo "$checks commands"
