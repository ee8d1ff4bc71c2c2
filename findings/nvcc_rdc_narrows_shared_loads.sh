#!/usr/bin/env bash
# Guess: -rdc=true concerns calls between files; a kernel that calls nothing keeps its machine code.
# A tile's row padded by one float costs memory, and nothing else.
# What happens: nvcc 13.0.88 reads a row of a 16 x 16 tile with four loads of 16 bytes. With
# -rdc=true, where the linker places the tile, or with rows of 17 floats, it reads 16 words one by
# one. On an H200 the kernel then takes 25 and 28 % longer. __align__(16) brings the wide loads back
# under -rdc=true.
# Source: NVIDIA's wheels nvidia-cuda-nvcc 13.0.88, nvidia-cuda-cuobjdump and nvidia-cuda-nvdisasm
# 13.2.86. cuobjdump prints machine code only with nvdisasm, whose wheel it does not ask for.
# Who is hurt: who turns CUDA_SEPARABLE_COMPILATION on for a whole project, or pads every tile
# against bank conflicts, also one that is read by broadcast.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" --quiet --disable-pip-version-check install nvidia-cuda-nvcc==13.0.88 \
  nvidia-nvvm==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-cuda-runtime==13.0.96 \
  nvidia-cuda-cuobjdump==13.2.86 nvidia-cuda-nvdisasm==13.2.86
bin=$(dirname "$(find "$folder" -path '*/bin/nvcc' -type f)")
"$bin/nvcc" --version | tail -n 1
cd "$folder"
cat >tile.cu <<'CUDA'
__global__ void tile(const float* a, const float* b, float* c, int n) {
  __shared__ PLACE float as[16][PITCH], bs[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  float sum = 0;
#pragma unroll 1
  for (int at = 0; at < n; at += 16) {
    as[y][x] = a[y * n + at + x];
    bs[y][x] = b[(at + y) * n + x];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += as[y][k] * bs[k][x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}
CUDA
# the loads from shared memory of 16 bytes, and of 4
loads() {
  "$bin/nvcc" -arch=sm_90 -c "$@" tile.cu -o tile.o
  PATH=$bin:$PATH cuobjdump -sass tile.o |
    awk '/ LDS\.128 /{wide++} / LDS (R|UR)/{narrow++} END {print wide + 0, narrow + 0}'
}
printed=$(loads -DPITCH=16 -DPLACE=)
relocatable=$(loads -DPITCH=16 -DPLACE= -rdc=true)
aligned=$(loads -DPITCH=16 "-DPLACE=__align__(16)" -rdc=true)
padded=$(loads -DPITCH=17 -DPLACE=)
echo "loads of 16 and of 4 bytes: $printed; -rdc=true: $relocatable; aligned, too: $aligned; padded by one: $padded"
if [[ $printed != "4 16" || $relocatable != "0 32" || $aligned != "4 16" || $padded != "0 32" ]]; then
  echo "this has changed"
  exit 1
fi
