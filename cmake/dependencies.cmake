# SPDX-License-Identifier: GPL-3.0-or-later
# Debian packages: libgsl-dev libopenblas-dev libconfig-dev libhdf5-dev zlib1g-dev libjson-c-dev
# libprotobuf-c-dev protobuf-c-compiler.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(GSL REQUIRED IMPORTED_TARGET gsl)
pkg_check_modules(LIBCONFIG REQUIRED IMPORTED_TARGET libconfig)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(JSONC REQUIRED IMPORTED_TARGET json-c)
pkg_check_modules(PROTOBUFC REQUIRED IMPORTED_TARGET libprotobuf-c)
find_program(PROTOC_C protoc-c REQUIRED)
add_library(dlsim::gsl ALIAS PkgConfig::GSL)
add_library(dlsim::libconfig ALIAS PkgConfig::LIBCONFIG)
add_library(dlsim::hdf5 ALIAS PkgConfig::HDF5)
add_library(dlsim::zlib ALIAS PkgConfig::ZLIB)
add_library(dlsim::jsonc ALIAS PkgConfig::JSONC)
add_library(dlsim::protobufc ALIAS PkgConfig::PROTOBUFC)
