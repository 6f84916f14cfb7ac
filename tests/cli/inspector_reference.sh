#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Random inspectors against the independent implementation among the shared tools, when it is there.
set -euo pipefail
reference=${DLSIM_SHARED:-}/tools/driple_reference.py
if [ ! -r "$reference" ]; then
  echo "skipped: published data not found (DLSIM_SHARED): tools/driple_reference.py"
  exit 77
fi
python=python3
[ -x /usr/bin/python3 ] && python=/usr/bin/python3
exec "$python" "$DLSIM_SOURCE/tests/differential/inspector_reference.py" "$1" "$reference"
