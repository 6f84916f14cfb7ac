#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Print a Python interpreter that has what the figures need: $DLSIM_PYTHON, python3 on the PATH, or
# the system's. An interpreter without them, such as a virtual environment's, is passed over.
for python in ${DLSIM_PYTHON:-python3 /usr/bin/python3}; do
    if "$python" -c 'import h5py, matplotlib, numpy, pandas' 2>/dev/null; then
        command -v "$python"
        exit 0
    fi
done
echo "plots: no Python with h5py, numpy, pandas and matplotlib (tried ${DLSIM_PYTHON:-python3, /usr/bin/python3});" \
    "on Debian: apt install python3-h5py python3-pandas python3-matplotlib; or set DLSIM_PYTHON" >&2
exit 1
