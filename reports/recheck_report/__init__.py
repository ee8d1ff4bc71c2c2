"""Judges the claims of old CUDA articles by what Recheck measured, and says it as a report."""

__version__ = "0.1.0"
