"""What the numbers are: bits, steps, the course of the evidence."""
