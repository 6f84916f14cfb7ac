#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Make figures anew: run what a figure needs, then draw it.
#
#     plots/reproduce.sh [--small] [-o FOLDER] [NAME]...      all figures if none is named
#
# Each figure is plots/NAME.py and plots/NAME.run, a shell fragment that makes the files to draw with
# $DLSIM (the program) below $WORK and leaves their names in $files. --small is a quick form of the
# same for tests. What is finished is not run again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
small=0
out=$root/results/figures
names=
while [ $# -gt 0 ]; do
    case $1 in
    --small) small=1 ;;
    -o) shift; out=$1 ;;
    -h | --help) sed -n '3,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) echo "reproduce.sh: unknown option $1" >&2; exit 2 ;;
    *) names="$names $1" ;;
    esac
    shift
done
DLSIM=$(realpath "${DLSIM:-$root/build/release/dlsim}")
[ -x "$DLSIM" ] || { echo "reproduce.sh: no program at $DLSIM; build it, or set DLSIM" >&2; exit 1; }
PYTHON=$("$here/python.sh")
[ -n "$names" ] || names=$(cd "$here" && ls *.run | sed 's/\.run$//')
mkdir -p "$out/data"
WORK=$(cd "$out/data" && pwd)
JOBS=${JOBS:-$(nproc)}

# sweep CFG [KEY=VALUE for --small]...: run and merge plots/CFG; $files is the merged file.
sweep() {
    cfg=$here/$1
    sweep=$(basename "$1" .cfg)
    shift
    folder=$WORK/$sweep
    set_small=
    if [ $small = 1 ]; then
        folder=$folder-small
        for o in "$@"; do set_small="$set_small --set $o"; done
    fi
    # shellcheck disable=SC2086
    "$DLSIM" sweep run "$cfg" -j "$JOBS" -o "$folder" $set_small -q
    # shellcheck disable=SC2086
    "$DLSIM" sweep merge "$cfg" -o "$folder" $set_small -q
    files=$folder/$sweep.h5
}

for name in $names; do
    [ -f "$here/$name.run" ] || { echo "reproduce.sh: no figure $name (plots/$name.run)" >&2; exit 2; }
    files=
    . "$here/$name.run"
    # shellcheck disable=SC2086
    "$PYTHON" "$here/$name.py" $files -o "$out"
done
