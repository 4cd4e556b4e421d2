"""The report: what an audit found, for print, for archives, for other programs."""
