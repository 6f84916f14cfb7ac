#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# aarch64.sh FOLDER [TEST...]: dlsim for another processor, by Debian's cross compiler against Debian's packages
# unpacked in FOLDER, and what it says there: the digests of runs, a run of the sample trace, and test programs by
# name (unit_test_trace), in emulation. Needs
#     apt install gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user mmdebstrap
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
cd "$1"
root=$PWD/root lib=$PWD/root/usr/lib/aarch64-linux-gnu
shift
if [ ! -d "$root" ]; then
    packages=libc6-dev,libgsl-dev,libopenblas-dev,libconfig-dev,libhdf5-dev,zlib1g-dev,libdeflate-dev,libjson-c-dev
    packages+=,libprotobuf-c-dev,libglpk-dev,libcmocka-dev
    mmdebstrap --variant=extract --arch=arm64 --include="$packages" bookworm "$root" http://deb.debian.org/debian
    ln -s hdf5-serial.pc "$lib/pkgconfig/hdf5.pc"
    for name in libblas.so.3 liblapack.so.3; do ln -sf openblas-pthread/$name "$lib/$name"; done
    rm -f "$lib"/lib{c,m,dl,pthread}.{a,so} # the compiler has its own
fi
cat >aarch64.cmake <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH $root)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L$lib -Wl,-rpath-link,$lib:$lib/openblas-pthread:$root/lib/aarch64-linux-gnu")
END
export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$lib/pkgconfig:$root/usr/share/pkgconfig DLSIM_SOURCE=$source
cmake -S "$source" -B build -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/aarch64.cmake" -DCMAKE_BUILD_TYPE=Release \
    -DDLSIM_WERROR=ON -DDLSIM_CUDA=OFF -DDLSIM_MOLD=OFF -DDLSIM_TESTS=ON --log-level=WARNING
cmake --build build --target dlsim digests "$@" -- --quiet
emulated() { qemu-aarch64 -L "$root" "$@"; }
build=$PWD/build
cd "$source"
emulated "$build/dlsim" run --config=configs/quickstart.cfg --trace=traces/samples/philly_like_5000.csv
for program in digests "$@"; do
    emulated "$build/tests/$program"
done
