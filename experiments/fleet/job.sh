#!/bin/sh
# job.sh PROGRAM FLAGS...: a job's command. It writes down its host, as ReFrame does not always know it.
# A job that the scheduler runs again resumes on the same GPU; on another GPU it starts again.
echo "${SLURMD_NODENAME:-$(hostname)}" >node
program=$1
shift
exec "$program" --resume --output=measured "$@"
