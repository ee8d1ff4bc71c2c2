#!/usr/bin/env bash
# Guess: without an NVIDIA driver, a package that needs one fails at its import and names the
# driver.
# What happens: cuda-bench 0.3.0, nvbench's Python package, is imported without an error. The first
# use of its extension raises an ImportError, which says that the wheel may lack the CUDA version
# and lists that very version as supported. The real cause, libcuda.so.1, comes last in the message.
# Source: NVIDIA's wheel cuda-bench 0.3.0 with the extra cu13; a machine without a driver.
# Who is hurt: programs that try the import to find out whether nvbench can be used, in CI or in a
# container without a GPU; people who reinstall CUDA because of the message.
set -euo pipefail
if ldconfig -p | grep -q libcuda.so.1; then
  echo "this machine has a driver: nothing to see"
  exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" --quiet --disable-pip-version-check install 'cuda-bench[cu13]==0.3.0'
"$folder/bin/python" - <<'P'
import sys
from importlib.metadata import version

import cuda.bench

print("cuda-bench", version("cuda-bench"), "is imported without a driver")
try:
    cuda.bench.run_all_benchmarks
except ImportError as error:
    text = str(error)
    print("at its first use:", text)
    blames = "may not include support for your CUDA version" in text and "libcuda.so.1" in text
    sys.exit(0 if blames else "it says something else now")
sys.exit("it does not fail at its first use now")
P
