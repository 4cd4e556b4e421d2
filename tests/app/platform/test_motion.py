"""Nothing moves by itself where the desktop asks for it."""

import subprocess
import sys

import pytest
from PySide6.QtWidgets import QProgressBar

from pura_audit.widgets import card

# A desktop's portal that answers one question, and the program that asks it.
PORTAL = """
import subprocess, sys
from jeepney import HeaderFields, MessageType, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

bus = open_dbus_connection("SESSION")
bus.send_and_get_reply(message_bus.RequestName("org.freedesktop.portal.Desktop"))
ask = "from pura_audit.platform.motion import still; print(still())"
asks = "from PySide6.QtCore import QCoreApplication as A; a = A([]); " + ask
program = subprocess.Popen([sys.executable, "-c", asks])
while program.poll() is None:
    try:
        call = bus.receive(timeout=0.2)
    except TimeoutError:
        continue
    if call.header.fields.get(HeaderFields.member) == "Read":
        moves = call.body == ("org.gnome.desktop.interface", "enable-animations")
        answer = ("v", ("b", sys.argv[1] == "moves")) if moves else ("v", ("u", 0))
        bus.send(new_method_return(call, "v", (answer,)))
"""


@pytest.mark.programs("dbus-run-session")
@pytest.mark.parametrize(("desktop", "said"), [("moves", "False"), ("keeps still", "True")])
def test_the_desktop_is_asked(desktop, said):
    done = subprocess.run(
        ["dbus-run-session", "--", sys.executable, "-c", PORTAL, desktop],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout.split() == [said]


def test_a_bar_that_only_says_that_something_goes_on_stands_still(qtbot, monkeypatch):
    for still in (True, False):
        monkeypatch.setattr(card, "still", lambda still=still: still)
        bar = card.progress_bar("Loading", endless=True)
        qtbot.addWidget(bar)
        assert isinstance(bar, QProgressBar)
        assert (bar.minimum() == bar.maximum()) is not still  # Qt lets an empty range move
