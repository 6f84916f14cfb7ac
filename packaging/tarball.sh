#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The program, linked statically, with its data in one archive, for machines without Python, packages or a C library of ours.
# Usage: tarball.sh BUILD [FOLDER]; BUILD is a build folder in which all targets, and dlsim_alone, are made.
set -eu
build=$1
into=$(mkdir -p "${2:-.}" && cd "${2:-.}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
name=dlsim-$("$build/alone/dlsim" --version | sed -n '1s/^dlsim //p' | cut -d' ' -f1)-linux-$(uname -m)
cmake --install "$build" --prefix "$work/$name" >/dev/null
rm -rf "$work/$name/include" "$work/$name"/lib*
strip -o "$work/$name/bin/dlsim" "$build/alone/dlsim"
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner -czf "$into/$name.tar.gz" "$name"
echo "$into/$name.tar.gz"
