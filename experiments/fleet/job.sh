#!/bin/sh
# job.sh PROGRAM FLAGS...: what a job runs. It says where it ran, as ReFrame does not always know, and
# a job that a scheduler runs again goes on behind what it has, if it is on the same GPU.
echo "${SLURMD_NODENAME:-$(hostname)}" >node
if test -d measured; then resume=--resume; fi
program=$1
shift
exec "$program" $resume --output=measured "$@"
