"""The documents' claims and errata, and the verdicts of a record and its probes on them."""
