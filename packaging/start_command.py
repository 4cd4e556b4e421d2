"""Start script of the packaged command."""

import sys

from pura.base.process import run_as_child

if __name__ == "__main__":
    run_as_child(sys.argv)
    from pura.cli.start import run

    run()
