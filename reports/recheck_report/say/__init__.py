"""What each section of a report says."""
