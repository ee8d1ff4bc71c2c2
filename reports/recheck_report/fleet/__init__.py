"""What jobs on many GPUs brought back: their records, the figures of them, and who ran what."""
