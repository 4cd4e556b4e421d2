"""One owner of all threads: queue, progress, cancel."""
