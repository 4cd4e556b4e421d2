"""Many texts: the queue, and the table of results."""
