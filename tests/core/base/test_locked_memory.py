"""Secrets in locked pages: overwritten when they go, also at the very end of the program."""

from tests.core.programs import python

from pura.base.process import SLOT, LockedBytes


def test_a_secret_is_overwritten_and_its_place_given_back():
    secret = LockedBytes(b"\x07" * SLOT)
    view = secret.view
    assert view is not None
    assert bytes(view) == b"\x07" * SLOT
    secret.wipe()
    assert secret.view is None
    assert bytes(view) == bytes(SLOT)
    secret.wipe()  # once more is nothing


def test_a_secret_may_outlive_its_module():
    """As at the end of a program, when the names of modules are taken away first."""
    code = (
        "import pura.base.process as module\n"
        "secret = module.LockedBytes(bytes(range(module.SLOT)))\n"
        "view = secret.view\n"
        "for name in list(vars(module)):\n"
        "    if not name.startswith('__'):\n"
        "        setattr(module, name, None)\n"
        "del secret\n"
        "assert bytes(view) == bytes(32)\n"
    )
    python(code, quiet=True)
