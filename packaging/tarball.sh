#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The program with everything that it needs in one archive, for machines without Python or packages: what a wheel holds, with
# the program in bin/. Usage: tarball.sh WHEEL [FOLDER]
set -eu
wheel=$1
into=$(mkdir -p "${2:-.}" && cd "${2:-.}" && pwd)
version=$(basename "$wheel" | cut -d- -f2)
name=dlsim-$version-linux-$(uname -m)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m zipfile -e "$wheel" "$work/$name"
cd "$work/$name"
rm -rf ./*.dist-info dlsim/*.py dlsim/*.pyi dlsim/_dlsim.*
chmod +x dlsim/bin/dlsim
mkdir bin
ln -s ../dlsim/bin/dlsim bin/dlsim
tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner -czf "$into/$name.tar.gz" "$name"
echo "$into/$name.tar.gz"
