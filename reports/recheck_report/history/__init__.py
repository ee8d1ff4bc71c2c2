"""The times of one GPU model over its runs: the file that keeps them (runs.py), the search for
change points (search.py), and what there is to say of one (steps.py)."""
