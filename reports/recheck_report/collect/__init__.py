"""Runs the programs that answer claims about anything but times."""
