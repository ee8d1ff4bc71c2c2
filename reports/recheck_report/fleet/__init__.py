"""The records of jobs on many GPUs."""
