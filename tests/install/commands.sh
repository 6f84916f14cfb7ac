# SPDX-License-Identifier: GPL-3.0-or-later
# commands.sh BUILD_DIR CC: the simulator's commands are a user of the library as anybody is. They compile with the
# installed headers and what all of the tree shares (sim/base, as source), link with the installed shared library,
# and give the program's results.
set -eu
build=$(realpath "$1")
cc=$2
. "$DLSIM_SOURCE/tests/support/install.sh"

install_build "$build"
libdir=$(dirname "$(find "$prefix" -name libdlsim.a)")

# Nothing else of the tree lies where these files look for headers.
mkdir "$work/tree"
cp -r "$DLSIM_SOURCE/sim/base" "$DLSIM_SOURCE/sim/cli" "$build/generated/build_info.h" "$work/tree"
commands=$(sed -n 's/^const dls_command \(dls_command_[a-z0-9_]*\) =.*/\1/p' "$work"/tree/cli/*.c)
{
    echo '#include "cli/command.h"'
    for command in $commands; do echo "extern const dls_command $command;"; done
    echo 'const dls_command *const *dls_own_commands(void) { static const dls_command *const all[] = {'
    for command in $commands; do echo "&$command,"; done
    echo 'NULL}; return all; }'
} >"$work/tree/cli/registry.c"
cd "$work/tree"
find base cli -name '*.c' -print0 | xargs -0 -P "$(nproc)" -I{} sh -c \
    "'$cc' -std=gnu17 -D_GNU_SOURCE -DDLS_VERSION=\"\" -I'$prefix/include' -I. $(pkg-config --cflags json-c gsl hdf5) -c {} -o \$(echo {} | tr / _).o" ||
    fail "the commands include more than installed headers and sim/base"
# The library comes first: of sim/base only what it does not export is taken.
ar rc libbase.a base_*.o
# shellcheck disable=SC2046
"$cc" -o dlsim cli_*.o -L"$libdir" -ldlsim libbase.a $(pkg-config --libs json-c gsl libconfig zlib libdeflate hdf5) -lm ||
    fail "the commands call what the library does not export"
# The commands are the program's, and the engine is the library's.
nm dlsim >symbols
grep -q ' T dls_main$' symbols && grep -q ' U dls_simulation_run@DLSIM_1$' symbols || fail "not the commands, or not their engine"

export LD_LIBRARY_PATH=$libdir
sample=$DLSIM_SOURCE/traces/samples/quick_60.csv
config=$prefix/share/dlsim/configs/quickstart.cfg
for program in ./dlsim "$prefix/bin/dlsim"; do
    out=$work/${program##*/}.$(test "$program" = ./dlsim && echo linked || echo installed)
    {
        "$program" --config="$config" --trace="$sample" --scheduler=srtf --json --quiet | grep digest
        "$program" list schedulers
        "$program" trace stats "$sample" 2>&1
        "$program" --config="$config" --trace="$sample" --scheduler=nobody 2>&1 || echo "exit code $?"
    } >"$out" || fail "$program: $(cat "$out")"
done
diff "$work/dlsim.linked" "$work/dlsim.installed" || fail "the linked commands say something else"
grep -q digest "$work/dlsim.linked" && grep -q 'exit code 3' "$work/dlsim.linked" || fail "$(cat "$work/dlsim.linked")"
echo "$(echo "$commands" | wc -l) commands are users of the library"
