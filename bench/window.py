"""Whether the window ever stands still: the longest stall of everything that is done with it.

    python bench/window.py [--tokens 200000] [--language de] [--theme dark] [--shown] [--no-model]

Drives the real window: import of files, an audit of the sample with the built-in model (loading the
model included), a long text, its scrolling, selecting and searching, resizing, change of colours,
the pages of a PDF of 500, the window of a report, a table of 10,000 rows, a register of 100,000,
pausing, going on and stopping. The stall meter of the program measures; the aim is 50 ms of the
thread's own work. The whole gap is shown beside it: on a busy machine that holds the work of others
too. A stall is the time between two beats of the window's thread, so the least that can be seen is
about 20 ms. Runs offscreen unless ``--shown``.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from _common import parse, print_facts, print_table

if TYPE_CHECKING:
    from pura.record.audit import Audit
    from pura_audit.platform.diagnostics import Stall
    from pura_audit.session.queue_model import Item

AIM_MS = 50
ROWS = 10_000
ISSUED = 100_000
PAGES = 500
FILES = 50
SEED = 7


def long_audit(audit: Audit, tokens: int) -> Audit:
    """Repeat a real audit until it has this many tokens; steps, evidence and passages included."""
    assert audit.text is not None
    times = -(-tokens // audit.input.tokens)
    own, step = audit.tokens, audit.steps
    text, length = audit.text * times, len(audit.text)
    moved = np.repeat(np.arange(times), own.ids.size)[:, None] * length

    def again(values: Any) -> Any:
        return np.concatenate([values] * times)

    passages = [
        replace(
            p,
            first_token=p.first_token + i * own.ids.size,
            start=p.start + i * length,
            last_token=p.last_token + i * own.ids.size,
            end=p.end + i * length,
        )
        for i in range(times)
        for p in audit.passages
    ]
    place = np.repeat(np.arange(times), step.token.size) * own.ids.size
    return replace(
        audit,
        id="f" * 32,
        text=text,
        passages=tuple(passages),
        input=replace(
            audit.input,
            name="long.txt",
            characters=len(text),
            tokens=times * own.ids.size,
            size_bytes=len(text.encode()),
        ),
        tokens=replace(
            own,
            ids=again(own.ids),
            spans=again(own.spans) + moved,
            entropy_bits=again(own.entropy_bits),
            lo=again(own.lo),
            hi=again(own.hi),
            gate=again(own.gate),
            log10_evidence=again(own.log10_evidence),
            marked=again(own.marked),
        ),
        steps=replace(
            step,
            token=again(step.token) + place,
            arity=again(step.arity),
            phase=again(step.phase),
            index=again(step.index),
            llr_nats=again(step.llr_nats),
        ),
    )


class Drive:
    """Does one thing after the other with the window, and notes the longest stall of each."""

    def __init__(self, window: Any) -> None:
        from pura_audit.platform.diagnostics import StallMeter

        self.window = window
        self.rows: list[list[str]] = []
        self.times: list[tuple[str, float, float]] = []
        self.seconds: dict[str, float] = {}
        self.meter = StallMeter()
        self.meter.mark("start")
        self.meter.start()

    def step(self, name: str, act: Callable[[], object], *, times: int = 1) -> None:
        """Do something, let the window answer, note the longest stall."""
        if name != "start":  # it has begun
            self.settle()
            self.meter.mark(name)
        for _ in range(times):
            act()
            self.settle(0.06)
        self.settle()
        self.meter.mark("between two steps")
        longest, own = 1000 * self.meter.longest(name), 1000 * self.meter.busiest(name)
        drawn = self.window.work.text.view.drawn
        kept = "yes" if own <= AIM_MS else "NO"
        self.rows.append([name, f"{longest:.0f}", f"{own:.0f}", kept, str(drawn)])

    def settle(self, seconds: float = 0.2) -> None:
        """Run the event loop for a while, as it runs in the program."""
        from PySide6.QtCore import QEventLoop, QTimer

        loop = QEventLoop()
        QTimer.singleShot(round(1000 * seconds), loop.quit)
        loop.exec()

    def until(self, condition: Callable[[], bool], seconds: float = 600) -> None:
        """Wait in the event loop."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                sys.exit("the window did not get there in time")
            self.settle(0.02)


def drive(found: Drive, folder: Path, arguments: argparse.Namespace) -> None:
    """Everything, in the order of a working day; torch is imported during the start."""
    window = found.window
    session, view = window.session, window.work.text.view
    found.step("start", lambda: found.until(lambda: session.chosen.device is not None))
    files = [folder / f"text-{i:02}.txt" for i in range(arguments.files)]
    for number, file in enumerate(files):
        file.write_text(f"Text number {number}. " * 2000, encoding="utf-8")
    found.step(f"import of {arguments.files} files", lambda: session.texts.add_paths(files))
    found.until(lambda: not any(i.document is None for i in session.texts.queue.items))
    audit = sample_audit(found, arguments.model)
    made = long_audit(audit, arguments.tokens)
    _ = made.finding  # what the thread that audits does before it hands a finding over
    found.step(f"show {made.input.tokens:,} tokens", lambda: session.texts.add_audit(made))
    bar = view.verticalScrollBar()
    ways = iter(np.linspace(0, 1, 40).tolist())
    found.step("scroll through it", lambda: bar.setValue(int(next(ways) * bar.maximum())), times=40)
    rng = np.random.default_rng(SEED)
    tokens = iter(rng.integers(0, made.input.tokens, 30).tolist())
    select = window.selection
    found.step("select a token", lambda: select.select_token(next(tokens)), times=30)
    bits = iter(rng.integers(0, len(made.bits), 10).tolist())
    found.step("select a bit", lambda: select.select_bit(next(bits)), times=10)
    found.step("find in it", lambda: view.mark_matches("the"))
    found.step("find nothing", lambda: view.mark_matches("not there at all"))
    sizes = iter([(1280, 720), (1920, 1080), (1500, 900), (1200, 700), (3840, 2160), (1440, 900)])
    found.step("resize", lambda: window.resize(*next(sizes)), times=6)
    found.step("larger text", lambda: window.zoom(1), times=3)
    change_colours(found)
    items = iter([session.texts.queue.items[0], session.texts.queue.items[-1]] * 2)
    found.step("from text to text", lambda: session.texts.show(next(items)), times=4)
    show_pages(found, folder, audit, arguments.pages)
    open_report(found)
    use_table(found, audit, arguments.rows)
    use_register(found, arguments.issued)
    if arguments.model:
        stop_and_pause(found, audit)


def use_table(found: Drive, audit: Audit, rows: int) -> None:
    """Fill the table with many findings; sort, group, search and scroll it."""
    from PySide6.QtCore import Qt

    from pura_audit.session.queue_model import Item, ItemState, listed
    from pura_audit.session.results import COLUMNS

    made = listed(audit)
    items = [
        Item(
            number=n,
            name=f"text {n}",
            state=ItemState.DONE,
            finding=replace(made, log10_e=float(n * 7919 % 10_007), id=str(n)),
            imported=True,
        )
        for n in range(rows)
    ]
    window = found.window
    pile, model = window.results, window.results.model

    def fill() -> None:
        window.session.texts.queue.insert(items)
        found.until(lambda: model.rowCount() >= rows)

    found.step("open the table", window.toggle_results)
    found.step(f"{rows:,} rows into the table", fill)
    found.step(
        "sort it", lambda: model.sort(COLUMNS.index("evidence"), Qt.SortOrder.DescendingOrder)
    )
    found.step("group it", lambda: model.group("outcome"))
    words = iter(["9", "99", "999", ""])
    found.step("search in it", lambda: pile.search.setText(next(words)), times=4)
    bar = pile.table.verticalScrollBar()
    ways = iter(np.linspace(0, 1, 20).tolist())
    found.step("scroll it", lambda: bar.setValue(int(next(ways) * bar.maximum())), times=20)
    found.step("leave the table and come back", window.toggle_results, times=3)


def use_register(found: Drive, issued: int) -> None:
    """Show many issued payloads; search, sort and scroll them."""
    from PySide6.QtCore import Qt

    from pura.register.store import Issue, Register
    from pura.scheme import Payload, PayloadSeries

    window, resets = found.window, [0]
    view, model = window.issued, window.issued.model
    with Register(window.session.environment.paths.register, create=True) as register:
        series = PayloadSeries(key="a" * 16, profile="b" * 16)
        issues = (
            Issue(payload=Payload.from_int(n, 36), series=series, who=f"desk {n}")
            for n in range(issued)
        )
        register.add_many(enumerate(issues, start=1))

    def act(what: Callable[[], object]) -> None:
        before = resets[0]
        what()
        found.until(lambda: resets[0] > before)

    def count() -> None:
        resets[0] += 1

    model.modelReset.connect(count)
    found.step("open what was issued", lambda: act(window.toggle_issued))
    words = iter(["desk 4711", "9", ""])
    found.step("search in it, too", lambda: act(lambda: view.search.setText(next(words))), times=3)
    order = Qt.SortOrder.DescendingOrder
    found.step("sort it by name", lambda: act(lambda: view.table.sortByColumn(1, order)))
    bar = view.table.verticalScrollBar()
    ways = iter(np.linspace(0, 1, 20).tolist())
    found.step("scroll it, too", lambda: bar.setValue(int(next(ways) * bar.maximum())), times=20)
    window.toggle_issued()


def show_pages(found: Drive, folder: Path, audit: Audit, pages: int) -> None:
    """Show the pages of a document, wait for the first one, and scroll through them all."""
    import typst

    from pura.documents import read_document

    window = found.window
    session, card = window.session, window.work.text
    assert audit.text is not None
    path = folder / "pages.pdf"
    source = (
        '#set page(paper: "a4", numbering: "1")\n'
        f"#for n in range({pages}) {{ page[#sys.inputs.text] }}"
    )
    path.write_bytes(typst.compile(source.encode(), sys_inputs={"text": audit.text}))
    text = read_document(path).chosen[0]
    made = long_audit(audit, round(audit.input.tokens * len(text.text) / len(audit.text)))
    kept = int(np.searchsorted(made.tokens.spans[:, 1], len(text.text)))
    made = replace(
        cut_off(made, kept),
        text=text.text,
        input=replace(
            made.input,
            name=path.name,
            format="pdf",
            sha256=text.sha256,
            characters=len(text.text),
            tokens=kept,
        ),
    )
    session.texts.add_audit(made)
    session.texts.current.path = path
    card.pages.use_file(path)
    found.settle(2.0)  # on the document, before its pages are asked for
    view = card.pages.view

    def first() -> None:
        begun = time.monotonic()
        card.tabs.setCurrentIndex(1)
        found.until(lambda: bool(view.pages) and not set(view.missing()) & set(view.in_view()))
        found.seconds["the first page is there"] = time.monotonic() - begun

    found.step("show its pages", first)
    begun = time.monotonic()
    found.until(lambda: view.evidence is not None)
    found.seconds["the words of all pages have their places"] = time.monotonic() - begun
    bar = view.verticalScrollBar()
    painted: list[float] = []

    def turn() -> None:
        """Scroll a third of a page, as a wheel does, and paint at once."""
        bar.setValue(bar.value() + view.viewport().height() // 3)
        begun = time.thread_time()  # its own work: others use the machine too
        view.viewport().repaint()
        painted.append(time.thread_time() - begun)

    found.step(f"scroll on through {pages} pages", turn, times=60)
    places = iter(np.linspace(0, bar.maximum(), 60).astype(int).tolist())
    found.step(
        f"jump through {pages} pages", lambda: (bar.setValue(next(places)), turn()), times=60
    )
    found.seconds["painting pages, 95 of 100 times at most"] = float(np.quantile(painted, 0.95))
    found.seconds["painting pages, longest"] = max(painted)
    card.tabs.setCurrentIndex(0)


def cut_off(audit: Audit, tokens: int) -> Audit:
    """Return the beginning of an audit; its passages as far as they go."""
    own, step = audit.tokens, audit.steps
    kept = {
        name: getattr(own, name)[:tokens]
        for name in ("ids", "spans", "entropy_bits", "lo", "hi", "gate", "log10_evidence", "marked")
    }
    inside = step.token < tokens
    steps = {
        name: getattr(step, name)[inside]
        for name in ("token", "arity", "phase", "index", "llr_nats")
    }
    return replace(
        audit,
        id="e" * 32,
        passages=tuple(p for p in audit.passages if p.last_token < tokens),
        tokens=replace(own, **kept),
        steps=replace(step, **steps),
    )


def open_report(found: Drive) -> None:
    """Open the window of a report, and wait for its pages."""
    from pura_audit.workbench import opening

    def act() -> None:
        dialog = opening.make_report(found.window)
        assert dialog is not None  # there are audits
        found.until(lambda: dialog.preview.built is not None and not dialog.preview.view.missing())
        dialog.close()

    found.step("open the window of a report", act)


def stop_and_pause(found: Drive, audit: Audit) -> None:
    """Pause a long audit, let it go on, and stop it; note how long each takes to happen."""
    session = found.window.session
    assert audit.text is not None
    session.texts.add_text(audit.text * 20, "long")
    item = session.texts.queue.items[-1]
    sample = next(row for row in session.texts.queue.items if row.sample)
    item.key, item.profile = sample.key, sample.profile

    def reading() -> bool:
        return item.progress is not None and item.progress.done > 0

    for name in ("stop", "pause, go on and stop"):
        session.audits.audit([item])
        found.until(reading)
        if name != "stop":
            found.window.toggle_pause()
            found.settle(2.0)  # a running piece is done by then
            before = item.progress
            found.settle(2.0)
            held = item.progress == before
            found.window.toggle_pause()
            found.until(lambda seen=before: item.progress != seen)
            print(f"Paused, it {'stood still' if held else 'WENT ON'}; it went on afterwards.")
        begun, worked = time.monotonic(), time.process_time()
        session.audits.stream.stop([item])
        found.until(lambda: not item.active)
        found.times.append((name, time.monotonic() - begun, time.process_time() - worked))


def ended(item: Item) -> bool:
    """Whether a text was read, or failed."""
    return item.audit is not None or item.failure is not None


def sample_audit(found: Drive, model: bool) -> Audit:
    """Audit the sample in the window; or in silence, when the window's audit is not measured."""
    session = found.window.session
    if model:

        def audit() -> None:
            found.window.try_sample()
            found.until(lambda: ended(session.texts.current))

        found.step("audit: load the model, read", audit)
        found.step("audit: the model is loaded", audit)
    else:
        found.window.try_sample()
        found.until(lambda: ended(session.texts.current))
    if session.texts.current.audit is None:
        sys.exit(f"{session.texts.current.failure.message} {session.texts.current.failure.hint}")
    return session.texts.current.audit  # type: ignore[no-any-return]


def change_colours(found: Drive) -> None:
    """Light, dark, high contrast and back."""
    from pura_audit.theme.theme import Mode

    modes = iter([Mode.DARK, Mode.LIGHT, Mode.CONTRAST, found.window.theme.mode])
    found.step("change the colours", lambda: found.window.set_theme(next(modes)), times=4)


def main() -> None:
    """Print the table, and where the window stood in its worst stalls."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=200_000)
    parser.add_argument("--language", choices=("en", "de"), default="en")
    parser.add_argument("--theme", choices=("light", "dark", "contrast", "system"), default="light")
    parser.add_argument("--shown", action="store_true", help="on the screen, not offscreen")
    parser.add_argument(
        "--no-model", dest="model", action="store_false", help="leave the table without the audit"
    )
    parser.add_argument("--rows", type=int, default=ROWS, help="of the table")
    parser.add_argument("--issued", type=int, default=ISSUED, help="payloads of the register")
    parser.add_argument("--pages", type=int, default=PAGES, help="of the document")
    parser.add_argument("--files", type=int, default=FILES, help="that are imported")
    arguments = parse(parser, tokens=2_000, rows=200, issued=200, pages=5, files=2)
    if not arguments.shown:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    os.environ.pop("DBUS_SESSION_BUS_ADDRESS", None)  # no keyring: it may ask for a password
    from pura.base.paths import Paths, user_paths
    from pura_audit.application import make_application, make_window
    from pura_audit.platform.settings import SettingsFile

    print_facts(f"Stalls of the window, {arguments.language}, {arguments.theme}", seed=SEED)
    make_application()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = folder / "data"
        data.mkdir()
        (data / "models").symlink_to(user_paths().models, target_is_directory=True)
        paths = Paths(data=data, config=folder / "config", state=folder / "state")
        SettingsFile(paths.config).update(language=arguments.language)
        window = make_window(paths, theme=arguments.theme)
        window.resize(1440, 900)
        found = Drive(window)
        window.show()
        try:
            drive(found, folder, arguments)
        finally:
            found.meter.stop()
            window.session.close()
            window.close()
    columns = ["step", "longest stall, ms", "of it our own", f"at most {AIM_MS}", "items drawn"]
    print_table(columns, found.rows)
    for name, seconds, worked in found.times:
        print(f"{name}: stopped after {seconds:.2f} s, {worked:.2f} s of them our own work")
    for name, seconds in found.seconds.items():
        print(f"{name}: {1000 * seconds:.0f} ms")
    worst: dict[str, Stall] = {}
    for stall in sorted(found.meter.stalls, key=lambda s: s.seconds):
        worst[stall.step] = stall
    for stall in worst.values():
        print(f"{1000 * stall.seconds:.0f} ms in “{stall.step}”:")
        for place in stall.stack[-6:]:
            print(f"    {place}")


if __name__ == "__main__":
    main()
