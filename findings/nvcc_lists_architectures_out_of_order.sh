#!/usr/bin/env bash
# Guess: nvcc --list-gpu-arch lists architectures from old to new, so that the entries after one are
# newer.
# What happens: nvcc 13.0.88 lists compute_110 before compute_103. 11.0 is the new number of CUDA
# 12's 10.1 (Thor), which kept its old place in the list.
# Source: NVIDIA's wheel nvidia-cuda-nvcc 13.0.88; seen in the toolkit's own package, too.
# Who is hurt: build scripts that take "the first entry above my GPU", or "all up to mine", from the
# list as it comes: a GPU of compute capability 10.3 gets code for 11.0, or none.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" --quiet --disable-pip-version-check install nvidia-cuda-nvcc==13.0.88
nvcc=$(find "$folder" -path '*/bin/nvcc' -type f)
"$nvcc" --version | tail -n 1
listed=$("$nvcc" --list-gpu-arch | sed 's/compute_//')
echo "as listed: $(echo $listed)"
echo "sorted:    $(sort -n <<<"$listed" | xargs)"
if [[ $listed == "$(sort -n <<<"$listed")" ]]; then
  echo "the list is sorted now"
  exit 1
fi
