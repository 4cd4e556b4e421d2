"""What was found, in words, and the steps that follow."""
