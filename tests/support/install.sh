# SPDX-License-Identifier: GPL-3.0-or-later
# What the tests of installations begin with: a folder that goes away with them, $work, and how they fail.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# install_build BUILD: what it installs, in $prefix.
install_build() {
    cmake --install "$1" --prefix "$prefix" >"$work/install.log" || fail "install: $(cat "$work/install.log")"
}
