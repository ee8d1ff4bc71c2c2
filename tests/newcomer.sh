#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# newcomer.sh [bookworm|trixie] [report] [test]
#
# Runs the README's commands on a minimal system: a root of the named Debian, or of this
# distribution, with only the README's packages and no recommended ones; a clone of HEAD; and the
# README's two commands, or those named here. A user without a home directory runs them. The driver
# is simulated, and the first command downloads the CUDA Toolkit. Exit code 77: not measured.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
own=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
suite=$own

not_measured() {
  echo "not measured: $*"
  exit 77
}
chosen=" "
for word; do
  case $word in
    bookworm | trixie) suite=$word ;;
    report | test) chosen+="$word " ;;
    *)
      echo "newcomer.sh: unknown word '$word': choose from bookworm, trixie, report, test" >&2
      exit 2
      ;;
  esac
done
command -v mmdebstrap >/dev/null || not_measured "mmdebstrap is not installed"
# all mounts and processes end with their namespaces
inside=(unshare --mount --pid --fork --kill-child)
mode=root
if ((EUID != 0)); then
  inside=(mmdebstrap --unshare-helper "${inside[@]}")
  mode=unshare
fi
"${inside[@]}" true 2>/dev/null || not_measured "it needs root or user namespaces"

packages=$(grep -om1 'apt install [^`]*' "$here/README.md" | cut -d' ' -f3-)
mapfile -t commands < <(grep -oE '^cmake --workflow --preset (report|test)' "$here/README.md")
if [[ -z $packages || ${#commands[@]} != 2 ]]; then
  echo "README.md does not name the packages and two commands any more"
  exit 1
fi

folder=$(mktemp -d "${TMPDIR:-/tmp}/newcomer-XXXXXX")
root=$folder/root
trap '"${inside[@]}" rm -rf "$root"; rm -rf "$folder"' EXIT
chmod 755 "$folder"

echo "== a minimal root of $suite with $packages"
for sources in /etc/apt/sources.list.d/{debian,ubuntu}.sources /etc/apt/sources.list; do
  [[ -s $sources ]] && break
done
# on Debian, another release comes from the same mirror; elsewhere mmdebstrap has a default
from=()
if [[ $suite == "$own" ]] || grep -q '^ID=debian$' /etc/os-release; then
  from=("$folder/suite.${sources##*.}")
  sed "s/\b$own\b/$suite/g" "$sources" >"${from[0]}"
fi
# network settings of this machine: apt's, and those in the environment, with their files
apt-config dump | grep -E '^Acquire::(http|Check)' >"$folder/apt.conf" || true
environment=()
files=(/etc/hosts /etc/pip.conf)
while IFS= read -r setting; do
  environment+=("$setting")
  [[ -f ${setting#*=} ]] && files+=("${setting#*=}")
done < <(env | grep -iE '^(https?_proxy|no_proxy|pip_[a-z_]*|ssl_cert_file|requests_ca_bundle)=')
copies=()
for file in "${files[@]}"; do
  [[ -f $file ]] && copies+=(--customize-hook="mkdir -p \"\$1$(dirname "$file")\"" \
                             --customize-hook="upload $file $file")
done
mmdebstrap --quiet --mode=$mode --variant=apt --include="${packages// /,}" \
  --aptopt="$folder/apt.conf" "${copies[@]}" "$suite" "$root" "${from[@]}"
echo "   $SECONDS s, $(du -sm "$root" | cut -f1) MB"
if grep -E '^Package: (lib(gtest|gmock|benchmark).*|googletest|nlohmann-json.*)$' \
  "$root/var/lib/dpkg/status"; then
  echo "this is what has to be fetched, and the root has it already"
  exit 1
fi
# the build must not wait for an unrelated package source
echo "deb http://127.0.0.1:9/debian $suite main" | "${inside[@]}" tee \
  "$root/etc/apt/sources.list.d/third-party.list" >/dev/null

git clone --quiet --no-local "$here" "$folder/recheck"
tar -c -C "$folder" recheck | "${inside[@]}" tar -x --no-same-owner -C "$root"
# a driver of CUDA 13.0 without a GPU
printf 'int cuInit(unsigned f) { return 0; }
int cuDriverGetVersion(int* v) { return *v = 13000, 0; }
int cuDeviceGetCount(int* n) { return *n = 0; }\n' |
  "${inside[@]}" chroot "$root" c++ -x c -shared -fPIC - -o /usr/lib/libcuda.so.1
for command in "${commands[@]}"; do
  name=${command##* }
  [[ $chosen == " " || $chosen == *" $name "* ]] || continue
  echo "== $command"
  SECONDS=0
  "${inside[@]}" bash -euc '
    root=$1 command=$2
    shift 2
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    chown -R 1000:1000 "$root/recheck"
    exec chroot --userspec=1000:1000 "$root" env -i PATH=/usr/local/bin:/usr/bin:/bin "$@" \
      sh -c "cd /recheck && $command"
  ' - "$root" "$command" "${environment[@]}"
  echo "== $name: $SECONDS s"
done
