#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# check_syntax.sh BUILD JOBS TARGET: every C file of a configured build (Ninja), tests and benchmarks
# included, through its compiler's front end, once, but those of TARGET, which has been built. No code is
# made. Fails if any file has an error.
set -eu
cd "$1"
ninja -t commands "$3" | sed -n 's/.* -c \([^ ]*\)$/\1/p' >syntax_known
sed -n 's/^ *"command": "\(.*\)",$/\1/p' compile_commands.json | sed 's/\\\(.\)/\1/g' |
    awk 'NR == FNR { known[$0]; next } !($NF in known) { known[$NF]; print }' syntax_known - |
    sed 's/ -o [^ ]* -c / -fsyntax-only /' | tr '\n' '\0' |
    xargs -0 -r -P "$2" -n 1 sh -c 'eval "$0"'
