#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What `dlsim report` runs: report.py, or picture.py for a picture, with a Python that has what it needs.
here=$(cd "$(dirname "$0")" && pwd) || exit 1
case " $* " in
*" --output "*.png" -- "* | *" --output "*.svg" -- "*) script=picture.py library=matplotlib ;;
*) script=report.py library=plotly ;;
esac
modules="h5py numpy $library"
rest=${DLSIM_PYTHON:-python3 /usr/bin/python3}
while [ -n "$rest" ]; do
    python=${rest%% *}
    rest=${rest#"$python"}
    rest=${rest# }
    "$python" -c '' 2>/dev/null && exec "$python" "$here/launch.py" "$script" "$modules" "$rest" "$@"
done
# shellcheck disable=SC2086 # words are modules
exec sh "$here/python.sh" $modules
