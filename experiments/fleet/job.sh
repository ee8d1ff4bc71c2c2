#!/bin/sh
# job.sh PROGRAM FLAGS...: what a job runs. It says where it ran, as ReFrame does not always know. A job
# that a scheduler runs again resumes where it was on this GPU, else it starts.
echo "${SLURMD_NODENAME:-$(hostname)}" >node
program=$1
shift
exec "$program" --resume --output=measured "$@"
