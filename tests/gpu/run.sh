#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Build, check and time the inspector's CUDA backend on a GPU machine, in one run:
#
#     bash tests/gpu/run.sh [BUILD_FOLDER] [--quick]
#
# Needs gcc, nvcc with cuBLAS, and nothing else: no HDF5, GSL, libconfig or network. PyTorch is timed
# beside it when python3 has it. Leaves check.json and bench.json in the build folder and prints both.
# Exit status: 0 all checks passed, 77 no device, else what failed.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build-gpu}
quick=${2:-}
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d '.' || true)
arch=${arch:-90}
mkdir -p "$build"

include=(-I"$root" -I"$root/sim" -I"$root/sim/include")
flags=(-std=gnu17 -O3 -fPIC -D_GNU_SOURCE -ffp-contract=off "${include[@]}")
avx512=(-mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx2 -mfma -mprefer-vector-width=512
  -ffp-contract=fast)
objects=()
compile() { # SOURCE [FLAG...]
  local object
  object=$build/$(basename "$1" .c).o
  gcc "${flags[@]}" "${@:2}" -c "$root/$1" -o "$object"
  objects+=("$object")
}
d=predictor/driple
for source in sim/base/error.c sim/base/alloc.c sim/base/rng.c $d/arch.c $d/model.c; do
  compile $source
done
module=("${objects[@]}")
for source in $d/graph_check.c $d/module.c $d/predict.c $d/cpu_backend.c $d/cpu_f64_scalar.c \
  $d/cpu_f32_scalar.c; do
  compile $source
done
compile $d/cpu_f32_avx2.c -mavx2 -mfma -ffp-contract=fast
compile $d/cpu_f32_avx512.c "${avx512[@]}"
"$nvcc" -std=c++17 -O3 -gencode "arch=compute_$arch,code=sm_$arch" "${include[@]}" \
  -Xcompiler -fPIC,-fvisibility=hidden -Xptxas -v -c "$root/$d/cuda_backend.cu" \
  -o "$build/cuda_backend.o" 2>"$build/ptxas.log" || { cat "$build/ptxas.log"; exit 1; }
grep -A2 fused "$build/ptxas.log" | grep -E "Compiling|spill|registers" || true
"$nvcc" -shared -cudart static "$build/cuda_backend.o" "${module[@]}" -lcublas \
  -Xlinker -Bsymbolic -o "$build/dlsim-cuda.so"
for program in tests/gpu/check_cuda tests/bench/bench_inspector; do
  gcc "${flags[@]}" "$root/$program.c" "${objects[@]}" -o "$build/$(basename $program)" \
    -lpthread -ldl -lm
done

echo "== checks: CUDA against the CPU's float64"
"$build/check_cuda" "$build/dlsim-cuda.so" $quick | tee "$build/check.json"
echo "== benchmark"
smoke=${quick:+--smoke}
"$build/bench_inspector" $smoke --cuda "$build/dlsim-cuda.so" | tee "$build/bench.json"
echo "== PyTorch on the same device"
python3 "$root/tests/bench/inspector_torch.py" --cuda $smoke | tee "$build/torch.json"
