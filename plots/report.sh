#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What `dlsim report` runs: report.py with a Python that has what it needs.
here=$(cd "$(dirname "$0")" && pwd) || exit 1
python=$(sh "$here/python.sh" h5py numpy pandas plotly) || exit $?
exec "$python" "$here/report.py" "$@"
