"""The queues of the worker threads: jobs, progress and cancelling."""
