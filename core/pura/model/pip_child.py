"""pip, in a child that ends with the program that started it."""

from __future__ import annotations

import runpy

from pura.base import linux

if __name__ == "__main__":
    linux.die_with_parent()
    runpy.run_module("pip", run_name="__main__", alter_sys=True)
