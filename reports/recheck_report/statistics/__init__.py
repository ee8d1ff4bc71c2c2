"""Comparisons of times, and the smallest difference that counts."""
