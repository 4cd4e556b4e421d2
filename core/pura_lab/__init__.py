"""The lab: experiments, rival schemes, training. It imports pura, never the other way."""
