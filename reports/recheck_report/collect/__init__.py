"""What claims need that is no time, from the programs that can tell."""
