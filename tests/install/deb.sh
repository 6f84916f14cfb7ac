#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The Debian package: made of the build, with what it needs named; with DLSIM_TEST_DEB=1, as root, installed and
# run in a fresh Debian root, which is downloaded. Usage: deb.sh BUILD_DIR CC
set -eu
build=$1
if [ "${DLSIM_SANITIZE:-0}" = 1 ] || ! command -v cpack >/dev/null || ! command -v dpkg-shlibdeps >/dev/null; then
    echo "skipped: no cpack, no dpkg-shlibdeps, or a sanitized build"
    exit 77
fi
. "$DLSIM_SOURCE/tests/support/install.sh"
cd "$work"
cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/packed" >cpack.log 2>&1 ||
    fail "cpack: $(tail -5 cpack.log)"
deb=$(ls packed/dlsim_*.deb)
version=$(sed -n 's/^project(dlsim VERSION \([0-9.]*\).*/\1/p' "$DLSIM_SOURCE/CMakeLists.txt")
test "$(dpkg-deb -f "$deb" Version)" = "$version" || fail "version $(dpkg-deb -f "$deb" Version)"
dpkg-deb -f "$deb" Depends >depends
for library in libc6 libgsl27 libhdf5-103-1 libconfig9 libjson-c5; do
    grep -q "$library" depends || fail "does not depend on $library: $(cat depends)"
done
# The recipes that no test runs name every library, too.
for library in $(sed -n 's/^pkg_check_modules(.* REQUIRED IMPORTED_TARGET \(.*\))/\1/p
        s/^find_library(\([A-Z]*\)_LIBRARY .* REQUIRED)/\L\1/p' "$DLSIM_SOURCE/cmake/dependencies.cmake"); do
    for recipe in conda/meta.yaml spack/package.py; do
        grep -q -- "[-\" ]\(lib\)\?${library#lib}" "$DLSIM_SOURCE/packaging/$recipe" || fail "$recipe lacks $library"
    done
done
dpkg-deb -c "$deb" >content
for file in usr/bin/dlsim usr/include/dlsim/run.h usr/lib/libdlsim.so.1 usr/share/dlsim/configs/quickstart.cfg \
    usr/share/man/man1/dlsim.1; do
    grep -q " ./$file" content || fail "not in the package: $file"
done
dpkg-deb -x "$deb" root
root/usr/bin/dlsim --config=root/usr/share/dlsim/configs/quickstart.cfg \
    --trace=root/usr/share/dlsim/traces/samples/quick_60.csv -q || fail "the packed program"
echo "$(basename "$deb"): $(stat -c %s "$deb") bytes"
if [ "${DLSIM_TEST_DEB:-0}" != 1 ]; then
    echo "DLSIM_TEST_DEB=1 installs it in a fresh Debian root"
    exit 0
fi
command -v mmdebstrap >/dev/null || fail "no mmdebstrap"
cp "$deb" dlsim.deb
mmdebstrap --mode=root --variant=apt --skip=output/dev --customize-hook='copy-in dlsim.deb /tmp' \
    --customize-hook='chroot "$1" apt-get install -y -q --no-install-recommends /tmp/dlsim.deb' \
    --customize-hook='chroot "$1" dlsim --config=/usr/share/dlsim/configs/quickstart.cfg \
        --trace=/usr/share/dlsim/traces/samples/philly_like_5000.csv >'"$work/said" \
    bookworm /dev/null >log 2>&1 || fail "a fresh root: $(tail -5 log)"
grep -q . said || fail "the installed program says nothing"
echo "installed and run in a fresh root"
