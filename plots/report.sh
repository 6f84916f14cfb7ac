#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What `dlsim report` runs: report.py, or picture.py for a picture, with a Python that has what it needs.
here=$(cd "$(dirname "$0")" && pwd) || exit 1
case " $* " in
*" --output "*.png" -- "* | *" --output "*.svg" -- "*) script=picture.py library=matplotlib ;;
*) script=report.py library=plotly ;;
esac
python=$(sh "$here/python.sh" h5py numpy pandas $library) || exit $?
exec "$python" "$here/$script" "$@"
