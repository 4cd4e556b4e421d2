"""``make demo``: mark a text for a recipient, audit it, show the window on the result.

Everything is real: the model, the key, the number that the register draws, the text, the audit that
names the recipient from the register. Without a display the same window is
painted into pictures, and the findings are printed.
"""

from __future__ import annotations

import os
import secrets
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from pura.base.errors import KeyStoreError, PuraError
from pura.base.files import write_atomic
from pura.base.paths import Paths, user_paths
from pura.keys import KeyRef, KeyStore, State
from pura.keys.epochs import today
from pura.register.rows import Recipient, RegisterEntry
from pura.scheme import Payload, Profile, SecretKey
from pura.usecases.environment import Environment
from pura.usecases.registers import issue_payload, open_register, series_of
from pura.words.sentences import say

if TYPE_CHECKING:
    from pura.model.load import LanguageModel
    from pura.record.audit import Audit

MODEL: Final = "smollm2-135m"
KEY_NAME: Final = "Demo"
PROFILE_NAME: Final = "Demo numbers"
RECIPIENT: Final = "City paper"
TOKENS: Final = 200
# A small model sometimes repeats itself; such a text is written again, up to a number of tries.
TRIES: Final = 5
LEAST_CARRIERS: Final = 100
PROMPT: Final = "The city council met on Tuesday evening to discuss the future of the old harbour."
OUTPUT: Final = Path("demo-output")


def main() -> int:
    """Run the demonstration."""
    console = Console(highlight=False, soft_wrap=True)
    paths = user_paths()
    try:
        model = _model(console, paths)
        key, label = _key(console, paths)
        environment = Environment(paths=paths, lent_keys={key.fingerprint: key})
        profile = Profile.new(model, name=PROFILE_NAME)
        marking = KeyRef(fingerprint=key.fingerprint, label=label)
        entry = _issue(console, environment, marking, profile, model.name)
        text = _generate(console, model, key, profile, entry.issue.payload)
        audit = _audit(console, environment, model, key, label, profile, text)
    except PuraError as error:
        console.print(str(error), style="bold red", markup=False)
        return 1
    right = _report(console, audit, entry)
    _keep(profile, paths)
    if _has_display():
        return _show(audit, paths, {label: key}) or int(not right)
    pictures = _paint(audit, paths, text, {label: key})
    console.print("There is no display here, so the window was painted into pictures:")
    for path in pictures:
        console.print(f"  {path}", markup=False)
    return int(not right)


def _model(console: Console, paths: Paths) -> LanguageModel:
    from pura.model import libraries

    libraries.prepare()
    from pura.model.device import choose_device
    from pura.model.load import load_model
    from pura.model.store import ModelStore

    store = ModelStore(paths.models)
    if all(installed.name != MODEL for installed in store.list()):
        console.print("Installing the built-in model (93 MB, once) …")
        with _bar(console) as bar:
            task = bar.add_task("Installing", total=None)
            store.install_builtin(
                progress=lambda completed, total: bar.update(
                    task, completed=completed, total=total or None
                )
            )
    device = choose_device()
    console.print(
        f"Model {MODEL} on {device.name}, {device.dtype}. {say(device.reason, 'en')}", markup=False
    )
    return load_model(store.get(MODEL), device)


def _key(console: Console, paths: Paths) -> tuple[SecretKey, str]:
    """Return the demo's key from the keyring, or a key for this run only if there is no keyring."""
    store = KeyStore(paths.config / "keys.json")
    if store.state() is State.READY:
        try:
            is_stored = any(entry.name == KEY_NAME for entry in store.list())
            key = store.get(KEY_NAME) if is_stored else SecretKey.generate()
            if not is_stored:
                store.add(KEY_NAME, key, note="made by make demo")
        except KeyStoreError as error:
            console.print(f"{error.message} A key for this run only is used.", markup=False)
        else:
            console.print(f"Key “{KEY_NAME}” {key.fingerprint} in {store.title}.", markup=False)
            return key, KEY_NAME
    else:
        console.print(
            "There is no usable keyring here, so the key lives for this run only and is gone "
            "afterwards."
        )
    key = SecretKey.generate()
    return key, f"{KEY_NAME} (this run only)"


def _issue(
    console: Console, environment: Environment, key: KeyRef, profile: Profile, model: str
) -> RegisterEntry:
    """Draw the number of the text; its row is in the register before the text is written."""
    entry = issue_payload(
        environment,
        series=series_of(environment, key, profile),
        profile=profile,
        recipient=Recipient(
            who=RECIPIENT, when=today().isoformat(), model=model, note="made by make demo"
        ),
    )
    number, payload = entry.number, entry.issue.payload.hex
    console.print(
        f"Number {payload} was drawn for “{RECIPIENT}” (entry {number} of the register).",
        markup=False,
    )
    return entry


def _generate(
    console: Console, model: LanguageModel, key: SecretKey, profile: Profile, payload: Payload
) -> str:
    from pura.embed import generate

    for _ in range(TRIES):
        with _bar(console) as bar:
            bar.add_task(f"Writing {TOKENS} marked tokens", total=TOKENS)
            generated = generate(
                model,
                PROMPT,
                payload,
                key,
                profile,
                tokens=TOKENS,
                ignore_eos=True,
                seed=secrets.randbits(62),
                progress=partial(_advance, bar),
            )
        carriers = int((generated.arity > 0).sum())
        # A small model sometimes falls into repeating itself; such a text carries next to
        # nothing, with a mark or without, and would show little.
        if carriers >= LEAST_CARRIERS:
            break
        console.print(f"The model repeated itself ({carriers} usable tokens); once more.")
    console.print(f"{generated.ids.size} tokens were written with this number.")
    return generated.text


def _advance(bar: Progress, completed: int, total: int) -> None:
    bar.update(bar.task_ids[0], completed=completed, total=total)


def _audit(
    console: Console,
    environment: Environment,
    model: LanguageModel,
    key: SecretKey,
    label: str,
    profile: Profile,
    text: str,
) -> Audit:
    from pura.base.progress import Stage
    from pura.detect.options import Options
    from pura.detect.together import audit_text

    with open_register(environment, must_exist=True) as register, _bar(console) as bar:
        task = bar.add_task("Auditing", total=None)

        def report(stage: Stage) -> None:
            bar.update(
                task,
                description=f"Auditing: {stage.name}",
                completed=stage.done,
                total=stage.total or None,
            )

        return audit_text(
            text,
            name="demo.txt",
            model=model,
            keys=[(key, label)],
            profile=profile,
            options=Options(register=register),
            progress=report,
        )


def _report(console: Console, audit: Audit, entry: RegisterEntry) -> bool:
    """Print the answer; return whether it names the recipient by the row of the text."""
    from pura.cli.verify import audit_lines

    console.print()
    for line, style in audit_lines(audit, "en", explain=False):
        console.print(line, style=style, markup=False)
    match = audit.finding.register_match
    recipient_named = match is not None and (match.entry, match.who) == (
        entry.number,
        entry.issue.who,
    )
    names = "names" if recipient_named else "does NOT name"
    console.print(f"The register {names} the recipient of the text.", style="bold")
    return recipient_named


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )


def _has_display() -> bool:
    if os.environ.get("QT_QPA_PLATFORM") in ("offscreen", "minimal"):
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _show(audit: Audit, paths: Paths, keys: dict[str, SecretKey]) -> int:
    from pura_audit.application import make_application, show_audit
    from pura_audit.platform import diagnostics

    diagnostics.log_qt_messages()
    app = make_application()
    window = show_audit(audit, paths=paths, session_keys=keys)
    window.show()
    try:
        return app.exec()
    finally:
        window.session.close()


def _keep(profile: Profile, paths: Paths) -> None:
    """Store the profile, so that the window has it to choose and can audit the text again."""
    path = paths.profiles / f"{profile.name}.json"
    if not path.exists():
        write_atomic(path, profile.to_json().encode())


def _paint(audit: Audit, paths: Paths, text: str, keys: dict[str, SecretKey]) -> list[Path]:
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from pura_audit.platform import diagnostics
    from pura_audit.tools.paint import paint_audit

    diagnostics.log_qt_messages()
    OUTPUT.mkdir(exist_ok=True)
    (OUTPUT / "demo.txt").write_text(text, encoding="utf-8", newline="")
    (OUTPUT / "profile.json").write_text(audit.profile.to_json(), encoding="utf-8")
    return [
        paint_audit(
            audit, OUTPUT / f"window-{theme}.png", paths=paths, theme=theme, session_keys=keys
        )
        for theme in ("light", "dark")
    ]


if __name__ == "__main__":
    sys.exit(main())
