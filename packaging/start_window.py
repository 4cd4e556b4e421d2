"""Start script of the packaged window."""

import sys

from pura.base.process import run_as_child

if __name__ == "__main__":
    run_as_child(sys.argv)
    from pura_audit.__main__ import main

    sys.exit(main())
