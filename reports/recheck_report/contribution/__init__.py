"""Records of others: one file that holds such a record, and what it is held against."""
