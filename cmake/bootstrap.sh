#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Install the Debian packages that building and testing dlsim needs; says and does nothing when they
# are there. As root, or through sudo. CUDA is never installed: the build uses a toolkit if it finds one.
#
# Usage: bootstrap.sh [build|test|figures|bench]
set -eu

packages="gcc g++ cmake ninja-build pkg-config libgsl-dev libconfig-dev libhdf5-dev zlib1g-dev
libdeflate-dev libjson-c-dev libprotobuf-c-dev protobuf-c-compiler libglpk-dev mold"
figures="python3 python3-numpy python3-h5py python3-pandas python3-matplotlib python3-plotly"
case ${1:-build} in
test) packages="$packages libcmocka-dev bash locales mandoc python3-dev python3-venv $figures" ;;
figures) packages="$packages $figures" ;;
bench) packages="$packages python3 python3-torch libopenblas0-serial iproute2 util-linux procps" ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "bootstrap: not a Debian system; these must be there:" $packages >&2
    exit 0
fi

missing=""
for package in $packages; do
    case "$(dpkg-query -W -f='${Status}' "$package" 2>/dev/null || true)" in
    *" installed") ;;
    *) missing="$missing $package" ;;
    esac
done
if [ -z "$missing" ]; then
    exit 0
fi

as_root=""
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "bootstrap: neither root nor sudo; install these:$missing" >&2
        exit 1
    fi
    as_root="sudo"
fi

echo "bootstrap: installing$missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Lists of packages may be old or absent: try without refreshing them first.
install() {
    # shellcheck disable=SC2086 # words are packages
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
        $missing >"$log" 2>&1
}
if ! install; then
    if ! $as_root apt-get update -q >"$log" 2>&1 || ! install; then
        cat "$log" >&2
        echo "bootstrap: could not install$missing" >&2
        exit 1
    fi
fi
