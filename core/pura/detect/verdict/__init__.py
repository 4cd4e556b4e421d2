"""Decision rule, outcome, power, findings and expectation."""
