#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The package's tests on the build folder's package. In a virtual environment in the build folder with what
# requirements.txt names, if that can be had; else with what the interpreter has, and tests that need more
# say so. DLSIM_VENV: another folder of that, which two builds can share. Usage: run.sh BUILD_DIR CC TESTS...
set -u
build=$1
cc=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../tests/support/venv.sh"
venv "${DLSIM_VENV:-$build/python/venv}" "$here/requirements.txt"

if [ "${DLSIM_SANITIZE:-0}" = 1 ]; then
    preload=$("$cc" -print-file-name=libasan.so):$("$cc" -print-file-name=libubsan.so)
    # The interpreter keeps memory until it ends; leaks are counted by test_memory.py. Every object of its own is
    # an allocation that is watched.
    export ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc
    export LD_PRELOAD=$preload
fi
export PYTHONPATH=$build/python PYTHONFAULTHANDLER=1
cd "$here" || exit 1
exec "$python" -m unittest "$@"
