#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Print a Python interpreter that has these modules (those of the figures if none is named):
# $DLSIM_PYTHON, else python3 on the PATH, else the system's. An interpreter without them, such as a
# virtual environment's, is passed over. They are looked for and not imported, which would take a second: launch.py
# tells whether they can be, and leaves no candidate ($DLSIM_PYTHONS_LEFT) to have it said that there is none.
[ $# -gt 0 ] || set -- h5py numpy pandas matplotlib
modules=$*
packages=
for module in $modules; do packages="$packages python3-$module"; done
there='import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, sys.argv[1:])))'
for python in ${DLSIM_PYTHONS_LEFT-${DLSIM_PYTHON:-python3 /usr/bin/python3}}; do
    if "$python" -c "$there" "$@" 2>/dev/null; then
        command -v "$python"
        exit 0
    fi
done
echo "plots: no Python with $(echo "$modules" | sed 's/ /, /g') (tried ${DLSIM_PYTHON:-python3, /usr/bin/python3});" \
    "on Debian: apt install$packages; or set DLSIM_PYTHON" >&2
exit 6
