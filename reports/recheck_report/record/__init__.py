"""The files that a report is made of, as typed values."""
