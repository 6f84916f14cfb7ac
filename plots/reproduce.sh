#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What `dlsim reproduce` and `make figures` run: make figures anew.
#
#     plots/reproduce.sh [--small] [--list] [--formats LIST] [-o FOLDER] [-j N] [NAME]...
#
# All figures if none is named.
#
# Each figure is plots/NAME.py and plots/NAME.run, a shell fragment that makes the files to draw with
# $DLSIM (the program) below $WORK and leaves their names in $files (one, or those that it adds), none if it cannot.
# --small is a quick form of the same for tests. What is finished is not run again.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
small=0
list=0
out=figures
names=
formats=pdf,svg,png
JOBS=${JOBS:-$(nproc)}
while [ $# -gt 0 ]; do
    case $1 in
    --small) small=1 ;;
    --list) list=1 ;;
    --formats) shift; formats=$1 ;;
    -o) shift; out=$1 ;;
    -j) shift; JOBS=$1 ;;
    -*) echo "reproduce.sh: unknown option $1" >&2; exit 2 ;;
    *) names="$names $1" ;;
    esac
    shift
done
all=$(cd "$here" && ls ./*.run | sed 's/^..//; s/\.run$//')
if [ $list = 1 ]; then
    for name in $all; do
        # The figure's script begins with what it shows.
        printf '%-22s %s\n' "$name" "$(sed -n '/^"""/{s/^"""//; s/"""$//; p; q}' "$here/$name.py")"
    done
    exit 0
fi
for name in $names; do
    [ -f "$here/$name.run" ] || {
        echo "${DLSIM_COMMAND:-reproduce.sh}: no figure '$name'; there are:" $all >&2
        exit 2
    }
done
case ,$formats, in
*[!a-z,]* | *,,*) bad=1 ;;
*) bad=$(echo "$formats" | tr , '\n' | grep -cvxE 'pdf|svg|png') || true ;;
esac
[ "$bad" = 0 ] || { echo "${DLSIM_COMMAND:-reproduce.sh}: formats '$formats': of pdf, svg, png" >&2; exit 2; }
DLSIM=$(realpath "${DLSIM:-$root/build/release/dlsim}")
[ -x "$DLSIM" ] || { echo "reproduce.sh: no program at $DLSIM; build it, or set DLSIM" >&2; exit 1; }
modules="h5py numpy pandas matplotlib"
# shellcheck disable=SC2086
PYTHON=$(sh "$here/python.sh" $modules) || exit $?
mkdir -p "$out/data" || exit 5
WORK=$(cd "$out/data" && pwd)

# sweep CFG [KEY=VALUE or option for --small]...: run and merge plots/CFG, on the jobs of $TRACE if that is set; $files
# is the merged file.
TRACE=
sweep() {
    cfg=$here/$1
    sweep=$(basename "$1" .cfg)
    shift
    folder=$WORK/$sweep
    set_small=
    if [ $small = 1 ]; then
        folder=$folder-small
        for o in "$@"; do
            case $o in
            --*) set_small="$set_small $o" ;;
            *) set_small="$set_small --set $o" ;;
            esac
        done
    fi
    # shellcheck disable=SC2086
    "$DLSIM" sweep run "$cfg" -j "$JOBS" -o "$folder" $set_small ${TRACE:+--set "trace.path=$TRACE"} -q
    # shellcheck disable=SC2086
    "$DLSIM" sweep merge "$cfg" -o "$folder" --file="$folder/$sweep.h5" --force $set_small \
        ${TRACE:+--set "trace.path=$TRACE"} -q
    files=$folder/$sweep.h5
}

# add FILE: to $files. Between two is a tab: folders may have blanks in their names.
tab=$(printf '\t')
add() {
    files=$files${files:+$tab}$1
}

# The operator model's tables are found beside the program or in ./configs.
cd "$root"
{
    for figure in ${names:-$all}; do
        files=
        # shellcheck disable=SC1090
        . "$here/$figure.run" >&2
        [ -z "$files" ] || printf '%s\t%s\n' "$figure" "$files"
    done
    echo end
} | "$PYTHON" "$here/launch.py" draw.py "$modules" "${DLSIM_PYTHON:-python3 /usr/bin/python3}" "$WORK/.." "$formats"
