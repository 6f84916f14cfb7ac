#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The package's tests on the build folder's package. In a virtual environment in the build folder with what
# requirements.txt names, if that can be had; else with what the interpreter has, and tests that need more
# say so. Usage: run.sh BUILD_DIR CC TESTS...
set -u
build=$1
cc=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
venv=$build/python/venv
wanted=$(sha256sum "$here/requirements.txt" | cut -c1-16)

# Debian's own interpreter has its packages; a newer CPython in front of it may have none.
python=
for one in /usr/bin/python3 python3; do
    if "$one" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$one
        break
    fi
done
[ -n "$python" ] || { echo "skipped: no CPython 3.11 or later"; exit 77; }

# Two tests may start at once: one makes the environment.
exec 9>"$build/python/venv.lock"
flock 9
if [ "$(cat "$venv/wanted" 2>/dev/null)" != "$wanted" ] && [ ! -e "$build/python/venv-failed-$wanted" ]; then
    rm -rf "$venv"
    if timeout 60 "$python" -m venv "$venv" >"$build/python/venv.log" 2>&1 &&
        timeout 300 "$venv/bin/pip" install -q --retries 1 -r "$here/requirements.txt" >>"$build/python/venv.log" 2>&1; then
        echo "$wanted" >"$venv/wanted"
    else
        touch "$build/python/venv-failed-$wanted"
        echo "the packages of $here/requirements.txt could not be had ($build/python/venv.log)"
    fi
fi
flock -u 9
[ -e "$venv/wanted" ] && python=$venv/bin/python

if [ "${DLSIM_SANITIZE:-0}" = 1 ]; then
    preload=$("$cc" -print-file-name=libasan.so):$("$cc" -print-file-name=libubsan.so)
    # The interpreter keeps memory until it ends; leaks are counted by test_memory.py.
    export ASAN_OPTIONS=detect_leaks=0
    export LD_PRELOAD=$preload
fi
export PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1 PYTHONFAULTHANDLER=1
cd "$here" || exit 1
exec "$python" -m unittest "$@"
