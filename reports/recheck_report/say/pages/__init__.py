"""One module for each page: what stands on it, in its order."""
