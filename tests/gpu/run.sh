#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Build, check and time predictions and training on CUDA on a GPU machine, in one run of at most ten
# minutes:
#
#     bash tests/gpu/run.sh [--quick] [--checks] [--emulate] [BUILD_FOLDER]
#
# Needs gcc, nvcc with cuBLAS, and nothing else: no CMake, HDF5, GSL, libconfig or network. PyTorch
# is timed beside it where python3 has it. Results, in $OUT or else the build folder:
#
#     check.json   every architecture on the device against the CPU's float64
#     table.json   error of each precision against the number of nodes
#     training.json   losses, gradients and ten steps of Adam on the device against the CPU's float64
#     bench.json   speed: CPU, device, one graph and 50,000 in 14 settings
#     training_bench.json   a training step on one core and on the device
#     torch.json, training_torch.json   PyTorch's speed on the same work, and what the device reaches in
#                  products and copies
#     report.json, report.md   the above, ratios and targets
#
# --quick keeps graphs shallow and batches small; --checks times nothing. --emulate needs no nvcc or device: the kernels run
# on the CPU (tests/gpu/cuda_emu.h), to try the script; its times mean nothing. What takes longest to compile, the
# engines and the kernels, is then taken from $MADE, if that names the folder of a CMake build's objects.
# Exit status: 0 all checks passed, 77 no device, else what failed.
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build='' quick='' emulate='' checks=''
for argument in "$@"; do
  case $argument in
    --quick) quick=--quick ;;
    --checks) checks=1 ;;
    --emulate) emulate=1 quick=--quick ;;
    *) build=$argument ;;
  esac
done
build=${build:-$root/build-gpu}
out=${OUT:-$build}
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -1 | tr -d '.' || true)
arch=${arch:-90}
mkdir -p "$build" "$out" || exit 1

# ---- build ---------------------------------------------------------------------------------------
include=(-I"$root" -I"$root/sim" -I"$root/sim/include" -I"$root/tests")
optimise=${emulate:+-O1} # its times mean nothing
flags=(-std=gnu17 "${optimise:--O3}" -fPIC -D_GNU_SOURCE -ffp-contract=off -Wno-psabi "${include[@]}")
avx512=(-mavx512f -mavx512dq -mavx512vl -mavx512bw -mavx2 -mfma -mprefer-vector-width=512
  -ffp-contract=fast)
objects=() jobs=()
made() { # OBJECT of $MADE: its path, if it is there and may stand for a compilation
  [ -n "$emulate" ] && [ -n "${MADE:-}" ] && [ -e "$MADE/$1" ] && echo "$MADE/$1"
}
compile() { # SOURCE [FLAG...], in the background
  local object
  case $1 in
    */cpu_f*.c | */cpu_bf16_*.c | */step_f*.c)
      object=$(made "dlsim_driple.dir/${1#predictor/}.o") && objects+=("$object") && return ;;
  esac
  object=$build/$(basename "$1" .c).o
  gcc "${flags[@]}" "${@:2}" -c "$root/$1" -o "$object" &
  jobs+=($!)
  objects+=("$object")
}
built() { # wait for all of it
  local job
  for job in "${jobs[@]}"; do
    wait "$job" || { echo "the build failed"; exit 1; }
  done
  jobs=()
}
d=predictor/driple
t=predictor/training
device_code=($d/cuda_backend.cu $t/cuda_learner.cu)
device=()
for source in "${device_code[@]}"; do
  name=$(basename "$source" .cu)
  object=$(made "dlsim-cuda-emulated.dir/$name.cpp.o") && device+=("$object") && continue
  object=$build/$name.o
  device+=("$object")
  if [ -n "$emulate" ]; then
    g++ -std=c++17 -O1 -fPIC -fvisibility=hidden -D_GNU_SOURCE -DDLS_CUDA_EMU "${include[@]}" -x c++ \
      -c "$root/$source" -o "$object" &
  else
    "$nvcc" -std=c++17 -O3 -gencode "arch=compute_$arch,code=sm_$arch" "${include[@]}" \
      -Xcompiler -fPIC,-fvisibility=hidden -Xptxas -v -c "$root/$source" -o "$object" \
      2>"$object.log" || { cat "$object.log"; exit 1; } &
  fi
  jobs+=($!)
done
for source in sim/base/error.c sim/base/guard.c sim/base/assert.c sim/base/alloc.c sim/base/rng.c $d/arch.c $d/model.c $t/trainee.c; do
  compile $source
done
module=("${objects[@]}")
for source in $d/arch_text.c $d/condition.c $d/graph_check.c $d/module.c $d/predict.c $d/relative.c sim/base/team.c $d/cpu_backend.c \
  $d/cpu_f64_scalar.c $d/cpu_f32_scalar.c $d/cpu_bf16_emulated.c $t/adam.c $t/engine.c $t/stepper.c $t/learner.c \
  $t/learner_cpu.c $t/step_f64_scalar.c $t/step_f32_scalar.c; do
  compile $source
done
for source in $d/cpu_f32 $t/step_f32; do
  test "$(uname -m)" = x86_64 || break
  compile ${source}_avx2.c -mavx2 -mfma -ffp-contract=fast
  compile ${source}_avx512.c "${avx512[@]}"
done
built
if [ -n "$emulate" ]; then
  g++ -shared "${device[@]}" "${module[@]}" -Wl,-Bsymbolic \
    -o "$build/dlsim-cuda.so" || exit 1
else
  grep -hA2 -E "fused|k_layer|k_set2set" "$build"/cuda_*.o.log |
    grep -E "Compiling|spill|registers" || true
  "$nvcc" -shared -cudart static "${device[@]}" "${module[@]}" \
    -lcublas -Xlinker -Bsymbolic -o "$build/dlsim-cuda.so" || exit 1
fi
for program in tests/gpu/check_cuda tests/gpu/check_training tests/bench/bench_inspector \
  tests/bench/bench_training; do
  gcc "${flags[@]}" "$root/$program.c" "${objects[@]}" -o "$build/$(basename $program)" \
    -lpthread -ldl -lm || exit 1
done

# ---- run: a step that fails does not keep the next from its numbers --------------------------------
smoke=${quick:+--smoke}
failed=0
step() { # NAME SECONDS COMMAND..., ten times as long where it is emulated
  echo "== $1"
  timeout "$2${emulate:+0}" "${@:3}" | tee "$out/$1.json"
  local status=${PIPESTATUS[0]}
  [ "$status" = 0 ] || echo "== $1: exit status $status"
  return "$status"
}
step check 60 "$build/check_cuda" "$build/dlsim-cuda.so" $quick
status=$?
[ $status = 77 ] && exit 77
[ $status = 0 ] || failed=$status
step training 60 "$build/check_training" "$build/dlsim-cuda.so" $quick || failed=1
[ -n "$checks" ] && exit $failed
step training_bench 90 "$build/bench_training" $smoke --cuda "$build/dlsim-cuda.so" || failed=1
step training_torch 45 python3 "$root/tests/bench/training_torch.py" ${smoke:---cuda} || failed=1
step bench 150 "$build/bench_inspector" $smoke --cuda "$build/dlsim-cuda.so" || failed=1
step torch 75 python3 "$root/tests/bench/inspector_torch.py" ${smoke:---cuda}  || failed=1
if [ -z "$emulate" ]; then
  step table 45 "$build/check_cuda" "$build/dlsim-cuda.so" --table || failed=1
fi
python3 "$root/tests/gpu/report.py" "$out" || failed=1
exit $failed
