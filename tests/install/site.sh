#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The documentation as a site: every link leads somewhere, the tutorials run as they stand, every block of code is of a kind
# that some test runs. In a virtual environment in the build folder with what docs/site/requirements.txt names; skipped
# where that cannot be had. Usage: site.sh BUILD_DIR CC
set -u
build=$1
source=$(cd "$DLSIM_SOURCE" && pwd)
fail() {
    echo "FAILED: $*" >&2
    exit 1
}
# Blocks: sh is run by tests/cli (cli.manual), C by cli.policies, CMake by install.consumer, Python by python.docs and tests of
# their pages.
odd=$(grep -n '^```[a-z]' "$source/README.md" "$source"/docs/*.md | grep -Ev '```(sh|c|cmake|python)$')
test -z "$odd" || fail "blocks of code that no test runs: $odd"

if [ "${DLSIM_SANITIZE:-0}" = 1 ] || [ ! -e "$build/python/dlsim/_dlsim.abi3.so" ]; then
    echo "skipped: a sanitized build, or one without the Python package"
    exit 77
fi
. "$source/tests/support/venv.sh"
venv=$build/python/site-venv
venv "$venv" "$source/docs/site/requirements.txt"
if [ "$python" != "$venv/bin/python" ]; then
    echo "skipped: the packages of docs/site/requirements.txt could not be had: $(tail -1 "$venv.log")"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$source" || exit 1
export PYTHONPATH=$build/python IPYTHONDIR=$work/ipython JUPYTER_PLATFORM_DIRS=1 \
    PATH=$venv/bin:$PATH NO_MKDOCS_2_WARNING=1
timeout 500 "$venv/bin/mkdocs" build --strict -q -d "$work/site" >"$work/log" 2>&1 || fail "$(tail -40 "$work/log")"
for page in index python/index tutorials/own_policy/index tutorials/predictor/index config/index; do
    test -s "$work/site/$page.html" || fail "no page $page"
done
grep -q 'mean completion' "$work/site/tutorials/own_policy/index.html" || fail "a tutorial has no output"
grep -q 'image/png;base64\|<img[^>]*base64' "$work/site/tutorials/own_policy/index.html" || fail "a tutorial has no picture"
echo "$(find "$work/site" -name '*.html' | wc -l) pages"
