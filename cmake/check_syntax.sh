#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# check_syntax.sh BUILD JOBS: every C file of a configured build, tests and benchmarks included,
# through its compiler's front end. No code is made, so it takes a tenth of a build. Fails if any
# file has an error.
set -eu
cd "$1"
sed -n 's/^ *"command": "\(.*\)",$/\1/p' compile_commands.json | sed 's/\\\(.\)/\1/g' |
    sed 's/ -o [^ ]* -c / -fsyntax-only /' | tr '\n' '\0' |
    xargs -0 -r -P "$2" -n 1 sh -c 'eval "$0"'
