"""What the tool measures on texts: attacks, power tables, a proxy model's fitness."""
