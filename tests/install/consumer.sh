# SPDX-License-Identifier: GPL-3.0-or-later
# consumer.sh BUILD_DIR CC: install into a temporary prefix and use only what lies there.
set -eu
build=$1
cc=$2
here=$DLSIM_SOURCE/tests/install
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

cmake --install "$build" --prefix "$prefix" >"$work/install.log" || fail "install: $(cat "$work/install.log")"
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
    headers=$((headers + 1))
done
test $headers -ge 3 || fail "only $headers public headers"

sanitize=""
if [ "${DLSIM_SANITIZE:-0}" = 1 ]; then
    sanitize="-fsanitize=address,undefined"
fi

# The pkg-config file: a program with the static library.
libdir=$(dirname "$(find "$prefix" -name libdlsim.a)")
export PKG_CONFIG_PATH=$libdir/pkgconfig
# shellcheck disable=SC2046,SC2086
"$cc" $sanitize -std=c17 -o "$work/consumer" "$here/consumer.c" $(pkg-config --cflags --libs --static dlsim) ||
    fail "linking through pkg-config"
sample=$DLSIM_SOURCE/traces/samples/quick_60.csv
test "$("$work/consumer" "$sample")" = "60 jobs" || fail "the consumer did not read the sample"

# The CMake package.
mkdir "$work/cmake"
cat >"$work/cmake/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(dlsim 0.1 REQUIRED)
add_executable(consumer $here/consumer.c)
target_compile_options(consumer PRIVATE $sanitize)
target_link_options(consumer PRIVATE $sanitize)
target_link_libraries(consumer PRIVATE dlsim::dlsim)
END
cmake -S "$work/cmake" -B "$work/cmake/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
    >"$work/cmake.log" 2>&1 && cmake --build "$work/cmake/build" >>"$work/cmake.log" 2>&1 ||
    fail "CMake package: $(cat "$work/cmake.log")"
test "$("$work/cmake/build/consumer" "$sample")" = "60 jobs" || fail "the CMake consumer"

# A plug-in against the installed headers only.
mkdir "$work/src"
cp "$here/plugin.c" "$DLSIM_SOURCE/sim/sched/srtf.c" "$DLSIM_SOURCE/sim/sched/gandiva.c" \
    "$DLSIM_SOURCE/placement/first_fit.c" "$work/src"
# shellcheck disable=SC2086
"$cc" $sanitize -std=c17 -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden -I"$include" \
    -o "$work/mine.so" "$work"/src/*.c || fail "building the plug-in"
cd "$work"
for what in schedulers placements; do
    "$dlsim" list $what --plugin=./mine.so >list.txt
    grep -q -- '-mine.*mine.so' list.txt || fail "list $what does not show the plug-in"
done
"$dlsim" list schedulers --json --plugin=./mine.so | grep -q '"gandiva-mine".*"plugin": "./mine.so"' ||
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
refuse 4 "either 'priority' or 'pass'"
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
