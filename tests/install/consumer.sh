# SPDX-License-Identifier: GPL-3.0-or-later
# consumer.sh BUILD_DIR CC: install into a temporary prefix and use only what lies there.
set -eu
build=$1
cc=$2
here=$DLSIM_SOURCE/tests/install
. "$DLSIM_SOURCE/tests/support/install.sh"

install_build "$build"
dlsim=$prefix/bin/dlsim
include=$prefix/include
for file in "$dlsim" "$prefix"/share/man/man1/dlsim.1 \
    "$prefix"/share/bash-completion/completions/dlsim "$prefix"/share/dlsim/configs/quickstart.cfg; do
    test -e "$file" || fail "not installed: $file"
done

# Every public header compiles alone, as C11, C17 and C++17, without a warning.
headers=0
for header in "$include"/dlsim/*.h; do
    echo "#include <dlsim/${header##*/}>" >"$work/alone.c"
    cp "$work/alone.c" "$work/alone.cpp"
    for std in c11 c17; do
        "$cc" -std=$std -Wall -Wextra -Wpedantic -Wstrict-prototypes -Werror -I"$include" \
            -fsyntax-only "$work/alone.c" || fail "${header##*/} as $std"
    done
    if command -v g++ >/dev/null; then
        g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -I"$include" -fsyntax-only \
            "$work/alone.cpp" || fail "${header##*/} as C++17"
    fi
    # What its opening shows is a file that compiles.
    sed -n '/^ \*\/$/q; /^ \*      #include/,$ { /^ \*$/s/.*//p; s/^ \*      //p }' "$header" >"$work/example.c"
    "$cc" -std=c17 -Wall -Wextra -Werror -I"$include" -fsyntax-only "$work/example.c" ||
        fail "the example of ${header##*/}"
    grep -q '^#include <dlsim/' "$work/example.c" || fail "${header##*/} shows no example"
    headers=$((headers + 1))
done
test $headers -ge 5 || fail "only $headers public headers"
# And all of them in one file.
(cd "$include" && printf '#include <%s>\n' dlsim/*.h) >"$work/all.c"
cp "$work/all.c" "$work/all.cpp"
"$cc" -std=c17 -Wall -Wextra -Werror -I"$include" -fsyntax-only "$work/all.c" || fail "all headers together"
if command -v g++ >/dev/null; then
    g++ -std=c++17 -Wall -Wextra -Werror -I"$include" -fsyntax-only "$work/all.cpp" || fail "all headers together as C++"
fi

libdir=$(dirname "$(find "$prefix" -name libdlsim.a)")
export PKG_CONFIG_PATH=$libdir/pkgconfig LD_LIBRARY_PATH=$libdir

# The shared library exports, under a version, what the public headers declare, and nothing else.
readelf -d "$libdir/libdlsim.so" | grep -q 'SONAME.*\[libdlsim\.so\.1\]' || fail "SONAME"
nm -D --defined-only "$libdir/libdlsim.so" | sed -n 's/^[0-9a-f]* [TDBR] //p' | sort >"$work/exported"
sed 's,/\*.*\*/,,' "$include"/dlsim/*.h | tr '\n' ' ' |
    grep -o 'DLS_API [^;(]*[ *]dls_[a-z0-9_]*(' | sed 's/.*[ *]\(dls_[a-z0-9_]*\)(/\1@@DLSIM_1/' |
    sort -u >"$work/declared"
diff "$work/declared" "$work/exported" >"$work/diff" || fail "declared and exported: $(cat "$work/diff")"
test "$(wc -l <"$work/declared")" -gt 80 || fail "few functions are declared"

# The same run by the program, by a program with the shared and one with all of the static library, and by one
# that the CMake package builds.
sample=$DLSIM_SOURCE/traces/samples/quick_60.csv
config=$prefix/share/dlsim/configs/quickstart.cfg
"$dlsim" --config="$config" --trace="$sample" --scheduler=srtf --json --quiet -o "$work/program.h5" >"$work/program"
digest=$(sed -n 's/.*"digest": *"\([0-9a-f]*\)".*/\1/p' "$work/program" | head -1)
consume() {
    (cd "$work" && "$@" "$config" "$sample" srtf >"$work/out" 2>&1) || fail "$1: $(cat "$work/out")"
    test "$(cat "$work/out")" = "$digest" || fail "$1: $(cat "$work/out"), the program: $digest"
    "$dlsim" compare "$work/program.h5" "$work/consumer.h5" >"$work/out" 2>&1 || fail "$1: $(cat "$work/out")"
    rm "$work/consumer.h5"
}
# shellcheck disable=SC2046,SC2086
"$cc" -std=c17 -o "$work/shared" "$here/consumer.c" $(pkg-config --cflags --libs dlsim) ||
    fail "linking the shared library"
consume "$work/shared"
# shellcheck disable=SC2046,SC2086
"$cc" -std=c17 -o "$work/static" "$here/consumer.c" $(pkg-config --cflags --libs --static dlsim |
    sed "s,-ldlsim,-Wl\,--whole-archive $libdir/libdlsim.a -Wl\,--no-whole-archive,") || fail "linking the static library"
consume "$work/static"
mkdir "$work/cmake"
cat >"$work/cmake/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(dlsim 0.2 REQUIRED)
add_executable(consumer $here/consumer.c)
target_link_libraries(consumer PRIVATE dlsim::dlsim)
add_executable(consumer_static $here/consumer.c)
target_link_libraries(consumer_static PRIVATE dlsim::static)
END
cmake -S "$work/cmake" -B "$work/cmake/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
    >"$work/cmake.log" 2>&1 && cmake --build "$work/cmake/build" >>"$work/cmake.log" 2>&1 ||
    fail "CMake package: $(cat "$work/cmake.log")"
consume "$work/cmake/build/consumer"
consume "$work/cmake/build/consumer_static"

# The example in the header is a whole program, in C and in C++.
sed -n '/^ \*      #include <dlsim\/run.h>/,/^ \*      }$/s/^ \*      \{0,1\}//p' "$include/dlsim/run.h" >"$work/example.c"
lines=$(wc -l <"$work/example.c")
test "$lines" -gt 20 -a "$lines" -le 40 || fail "the example has $lines lines"
# shellcheck disable=SC2046,SC2086
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -D_POSIX_C_SOURCE=200809L -o "$work/example" "$work/example.c" \
    $(pkg-config --cflags --libs dlsim) || fail "the example"
"$work/example" "$config" "$sample" >"$work/out" 2>&1 || fail "the example: $(cat "$work/out")"
"$dlsim" --config="$config" --trace="$sample" --scheduler=fifo --placement=first-fit --json --quiet >"$work/fifo"
mean=$(sed -n 's/.*"jct_mean_s": \([0-9.]*\).*/\1/p' "$work/fifo" | head -1)
grep -q "^60 jobs, mean JCT $(printf %.0f "$mean") s" "$work/out" || fail "the example: $(cat "$work/out"), not $mean"
if command -v g++ >/dev/null; then
    # shellcheck disable=SC2046,SC2086
    g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -x c++ -o "$work/example_cpp" "$work/example.c" \
        $(pkg-config --cflags --libs dlsim) || fail "the example in C++"
fi
# So is that of steps of models; it says what the command does.
sed -n '/^ \*      #include <dlsim\/steps.h>/,/^ \*      }$/s/^ \*      \{0,1\}//p' "$include/dlsim/steps.h" >"$work/steps.c"
# shellcheck disable=SC2046,SC2086
"$cc" -std=c17 -Wall -Wextra -Wpedantic -Werror -o "$work/steps" "$work/steps.c" $(pkg-config --cflags --libs dlsim) ||
    fail "the example of steps.h"
"$work/steps" >"$work/out" 2>&1 || fail "the example of steps.h: $(cat "$work/out")"
{
    "$dlsim" predict --whatif --model=resnet50 --batch=64 --gpu=V100 --source=operator
    "$dlsim" predict --whatif --model=resnet50 --batch=64 --gpu=A100 --workers=4 --nodes=2 --source=operator
} | awk '/^as asked/ { printf "%.1f\n", $3 }' >"$work/asked"
sed 's/.*: \([0-9.]*\) ms.*/\1/' "$work/out" | diff - "$work/asked" || fail "steps.h: $(cat "$work/out"), the command: $(cat "$work/asked")"
test "$(wc -l <"$work/asked")" = 2 || fail "steps: $(cat "$work/asked")"

# A plug-in against the installed headers only.
mkdir "$work/src"
cp "$here/plugin.c" "$DLSIM_SOURCE/sim/sched/shortest.c" "$DLSIM_SOURCE/sim/sched/gandiva.c" \
    "$DLSIM_SOURCE/placement/first_fit.c" "$work/src"
# shellcheck disable=SC2086
"$cc" -std=c17 -O2 -Wall -Wextra -Wno-unused-parameter -Werror -fPIC -shared -fvisibility=hidden -I"$include" \
    -o "$work/mine.so" "$work"/src/*.c || fail "building the plug-in"
cd "$work"
for what in schedulers placements; do
    "$dlsim" list $what --plugin=./mine.so >list.txt
    grep -q -- '-mine.*mine.so' list.txt || fail "list $what does not show the plug-in"
done
"$dlsim" list schedulers --json --plugin=./mine.so | tr -d '\n' |
    grep -q '"gandiva-mine",[^{]*"plugin": "./mine.so"' ||
    fail "list --json does not show the plug-in"

cat >tight.cfg <<'END'
schema_version = 1;
cluster: { nodes = ({ count = 2; gpus = 4; gpu_type = "V100"; }); };
END
digest() {
    timeout 60 "$dlsim" --config=tight.cfg --trace="$sample" --json --quiet --plugin=./mine.so "$@" |
        grep -o '"digest": *"[0-9a-f]*"'
}
for policy in srtf gandiva; do
    built_in=$(digest --scheduler=$policy --placement=first-fit)
    plugged=$(digest --scheduler=$policy-mine --placement=first-fit-mine)
    test -n "$built_in" || fail "no digest"
    test "$built_in" = "$plugged" || fail "$policy: $built_in built in, $plugged as a plug-in"
done
test "$(digest --scheduler=srtf)" != "$(digest --scheduler=gandiva)" || fail "digests never differ"

# What must be refused, and why.
refuse() {
    "$cc" -std=c17 -fPIC -shared -fvisibility=hidden -DBAD="$1" -I"$include" -o bad.so "$here/bad_plugin.c"
    code=0
    "$dlsim" list schedulers --plugin=./bad.so >out.txt 2>err.txt || code=$?
    test $code -eq 4 || fail "bad plug-in $1: exit code $code: $(cat out.txt err.txt)"
    grep -q "$2" err.txt || fail "bad plug-in $1: $(cat err.txt)"
}
refuse 1 "policy ABI"
refuse 2 "already a scheduling policy called 'fifo'"
refuse 3 "default is wrong"
refuse 4 "needs one of 'priority', 'pass', and 'round'"
refuse 5 "brings no policy"
code=0
"$dlsim" list schedulers --plugin=./nowhere.so 2>err.txt || code=$?
test $code -eq 4 && grep -q "cannot be loaded" err.txt || fail "missing plug-in: $code $(cat err.txt)"
code=0
"$dlsim" list schedulers --plugin="$libdir/libdlsim.a" 2>err.txt || code=$?
test $code -eq 4 || fail "a library as plug-in: $code"
code=0
"$dlsim" --config=tight.cfg --trace="$sample" --plugin=./mine.so --plugin=./mine.so >/dev/null 2>err.txt || code=$?
test $code -eq 4 && grep -q "already" err.txt || fail "the same plug-in twice: $code $(cat err.txt)"
echo "$headers headers, consumers, plug-ins: good"
