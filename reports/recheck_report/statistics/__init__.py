"""Which of two is faster, and what a difference must exceed before a report speaks of one."""
