"""Judges the claims of old CUDA articles on Recheck's measurements, and writes a report."""

__version__ = "0.1.0"
