"""What the Linux kernel offers a process that wants to give up powers, for good.

No library is kept for this: those that there are wrap a shared library (libseccomp) that not every
system has and that a packaged program would have to carry (decision 013).
"""
