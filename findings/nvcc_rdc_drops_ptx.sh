#!/usr/bin/env bash
# Guess: code=compute_80 puts PTX into a program, with -rdc=true as without, so that newer GPUs can
# run it.
# What happens: nvcc 13.0.88 compiles and links without a word. Without -rdc the program holds PTX.
# With -rdc=true it holds neither PTX nor machine code, and code=[compute_80,sm_80] leaves only the
# machine code: the device linker takes the PTX out of the objects and writes none.
# Source: NVIDIA's wheels nvidia-cuda-nvcc 13.0.88 and nvidia-cuda-cuobjdump 13.2.86.
# Who is hurt: projects with CUDA_SEPARABLE_COMPILATION that ship PTX for future GPUs. Their program
# starts, and its first launch fails there.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" --quiet --disable-pip-version-check install nvidia-cuda-nvcc==13.0.88 \
  nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-cuobjdump==13.2.86
bin=$(dirname "$(find "$folder" -path '*/bin/nvcc' -type f)")
"$bin/nvcc" --version | tail -n 1
cd "$folder"
cat >program.cu <<'CUDA'
__global__ void scale(float* x) { x[threadIdx.x] *= 2; }
int main() { scale<<<1, 32>>>(nullptr); }
CUDA
# what a program holds: the kinds of its device code
holds() {
  "$bin/nvcc" -L"$bin/../lib" "$@" program.cu -o program
  { "$bin/cuobjdump" --list-ptx program; "$bin/cuobjdump" --list-elf program; } 2>/dev/null |
    sed -nE 's/.*\.(ptx|cubin)$/\1/p' | sort -u | xargs
}
whole=$(holds -gencode arch=compute_80,code=compute_80)
parts=$(holds -rdc=true -gencode arch=compute_80,code=compute_80)
both=$(holds -rdc=true -gencode 'arch=compute_80,code=[compute_80,sm_80]')
echo "PTX asked for: ${whole:-nothing}; with -rdc=true: ${parts:-nothing}"
echo "PTX and machine code asked for, with -rdc=true: ${both:-nothing}"
if [[ $whole != ptx || -n $parts || $both != cubin ]]; then
  echo "this has changed"
  exit 1
fi
