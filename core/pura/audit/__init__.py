"""The use cases: one audit, its record, keys, register, policy and words."""
