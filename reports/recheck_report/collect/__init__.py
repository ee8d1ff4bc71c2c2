"""Runs the programs that answer claims about other things than times."""
