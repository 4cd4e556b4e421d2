"""The pages of all errors, which the site has in two languages (``make site``).

What an error says and its way out stand in the volume errors; under which code it is
raised is read from the code. A text that is raised nowhere, or under no code, is an error here.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pura.base.catalogue import Catalogue, catalogue
from pura.keys.backends import CODES

ROOT = Path(__file__).resolve().parents[2]
# Raised under a code that only the moment of raising knows.
BUILT = {
    "passphrase.wrong": ("folder-passphrase", "key-file-passphrase"),
    "file.write-after": ("file-write",),
    "command.one-key": ("key-missing",),
    "argument.type": ("argument", "key-type"),
    "model.load": ("model",),
    "model.architecture": ("model",),
    "repeat.absent": ("repeat-key", "repeat-model", "repeat-power", "repeat-register"),
}
OF_DATABASES = {
    "database.other": "database.{}-other",
    "database.newer": "database.update",
    "database.damaged": "database.{}-damaged",
    "database.open": "hint.path",
}
# What the files are called that somebody wrote and that cannot be used, by code.
WHOLE = {
    "likelihood": "likelihood",
    "policy": "policy",
    "profile": "profile",
    "record": "record",
    "report-request": "request",
}
# Of the window alone.
WINDOW = {
    "internal": {
        "en": "The program made a mistake. *Try once more. If it happens again, send the log file "
        "(Help) to your support.*",
        "de": "Das Programm hat einen Fehler gemacht. *Versuchen Sie es noch einmal. Geschieht es "
        "wieder, schicken Sie die Protokolldatei (Hilfe) an Ihren Support.*",
    },
    "text-not-kept": {
        "en": "This text was pasted and not yet examined. *The settings keep no readable texts: "
        "paste it again.*",
        "de": "Dieser Text wurde eingefügt und noch nicht untersucht. *Die Einstellungen bewahren "
        "keine lesbaren Texte auf: Fügen Sie ihn noch einmal ein.*",
    },
}
TITLE = {"en": "Troubleshooting", "de": "Wenn etwas nicht geht"}
HEAD = {
    "en": """What the program says when something cannot be done, and the way out; [auf
Deutsch](../de/reference/errors.md). The window shows these sentences where the answer would have
stood; the command prints them, and `pura -v` names the code as well. Rows for programs hold it as
`error.code`. An ellipsis stands for a name or a number.

Three commands tell most of it: `pura doctor` looks at all that an audit needs and says what to do
about what is wrong; `pura key state --check` looks at every key; `pura selftest` recomputes known
results on this computer.

This page is made from the program's own words, one section a code, in alphabetical order.
""",
    "de": """Was das Programm sagt, wenn etwas nicht geht, und was dann hilft; [in
English](../../reference/errors.md). Das Fenster zeigt diese Sätze dort, wo sonst die Antwort
stünde; der Befehl gibt sie aus, und `pura -v` nennt auch den Code. Zeilen für Programme enthalten
ihn als `error.code`. Auslassungspunkte stehen für einen Namen oder eine Zahl.

Drei Befehle sagen das meiste: `pura doctor` sieht alles durch, was eine Untersuchung braucht, und
nennt zu jedem Mangel den Ausweg; `pura key state --check` prüft jeden Schlüssel; `pura selftest`
rechnet bekannte Ergebnisse auf diesem Rechner nach.

Diese Seite entsteht aus den Texten des Programms: ein Abschnitt je Code, alphabetisch geordnet.
""",
}


def _trees() -> list[ast.Module]:
    folders = (ROOT / "core" / "pura", ROOT / "core" / "pura_lab", ROOT / "app" / "pura_audit")
    return [ast.parse(p.read_text("utf-8")) for f in folders for p in sorted(f.rglob("*.py"))]


def _name(called: ast.expr) -> str:
    """Return the last part of a dotted name; of anything else nothing."""
    match called:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _classes(trees: list[ast.Module]) -> dict[str, str]:
    """Return the code of each class of errors."""
    bases: dict[str, str] = {}
    codes = {"PuraError": "error"}
    for node in (n for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ClassDef)):
        if node.bases:
            bases[node.name] = _name(node.bases[0])
        for line in node.body:
            match line:
                case ast.Assign(targets=[ast.Name(id="code")], value=ast.Constant(value=str(code))):
                    codes[node.name] = code

    def code_of(name: str) -> str | None:
        if name in codes:
            return codes[name]
        return code_of(bases[name]) if name in bases else None

    return {name: code for name in {*bases, *codes} if (code := code_of(name)) is not None}


def _words(node: ast.AST | None) -> Iterator[str]:
    for part in ast.walk(node) if node is not None else ():
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def _raised(trees: list[ast.Module], texts: Catalogue) -> Iterator[tuple[str, str]]:
    """Return text and code of each place that raises."""
    classes = _classes(trees)
    for tree in trees:
        for place in (n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.FunctionDef)):
            for call in (n for n in ast.walk(place) if isinstance(n, ast.Call)):
                name, given = _name(call.func), call.args
                if name == "os_error_as":  # makes the error of the system one of this class
                    name, given = _name(given[0]), given[1:]
                if not given or (name not in classes and name not in ("error", "over", "cls")):
                    continue
                first = given[0]
                code = next((k.value for k in call.keywords if k.arg == "code"), None)
                # A key that was chosen a few lines above stands in the same function.
                above = isinstance(first, ast.Name) and isinstance(place, ast.FunctionDef)
                for key in (k for k in _words(place if above else first) if k in texts):
                    for said in _codes(code, key, name, classes):
                        yield key, said


def _codes(code: ast.expr | None, key: str, name: str, classes: dict[str, str]) -> Iterator[str]:
    if name == "over":
        yield "input-limit"
    elif code is None:
        yield classes.get(name, "file-exists" if name == "cls" else "error")
    elif isinstance(code, ast.Constant | ast.IfExp):
        parts = (code.body, code.orelse) if isinstance(code, ast.IfExp) else (code,)
        yield from (re.sub(r"-$", "-…", word) for part in parts for word in _words(part))
    elif "replace" in ast.unparse(code):
        yield key.replace(".", "-")


@cache
def by_code() -> dict[str, list[str]]:
    """Return the texts of each code, both in order."""
    texts = catalogue("errors")
    found: dict[str, set[str]] = defaultdict(set)
    for key, code in _raised(_trees(), texts):
        found[code].add(key)
    for state, code in CODES.items():
        found[code].update({f"keystore.{state}"} & texts.keys() - {"keystore.ready"})
    found["keyring-locked"].add("keystore.files-locked")
    for key in texts:
        for start, codes in BUILT.items():
            if key.startswith(start) and texts[key].hint:
                for code in codes:
                    found[code].add(key)
        if key.startswith("document."):
            for code in WHOLE:
                found[code].add(key)
        if key == "database.full":
            found["disk-full"].add(key)
        elif key.startswith("database.") and texts[key].hint:
            found["case-log"].add(key)
            found["register"].add(key)
    placed = set().union(*found.values())
    hints = {template.hint for template in texts.values()}
    lost = [k for k, t in texts.items() if t.hint and k not in placed and k not in hints]
    if lost:
        raise SystemExit(f"raised under no code that can be read: {', '.join(lost)}")
    return {code: sorted(found[code]) for code in sorted(found) if found[code]}


def _plain(text: str) -> str:
    """Return a text with an ellipsis in blanks that are left, safe as Markdown."""
    text = re.sub(r"\{\w+:plural\([^|]*\|((?:[^()]|\([^()]*\))*)\)\}", r"\1", text)
    text = re.sub(r"\{\w+:\w+(?:\([^()]*\))?\}", "…", text)
    return re.sub(r"([*_<`\[\]\\])", r"\\\1", text)


def page(language: str) -> str:
    """Return the page in a language."""
    texts = catalogue("errors")
    lines = [f"# {TITLE[language]}", "", HEAD[language]]
    found = by_code()
    for code in sorted({*found, *WINDOW}):
        lines += [f"## `{code}`", ""]
        lines += [f"* {WINDOW[code][language]}"] if code in WINDOW else []
        for key in found.get(code, ()):
            said, hint = texts[key].texts[language], texts[key].hint
            if code in ("case-log", "register") and key.startswith("database."):  # they share these
                for blank, word in (("noun", code), ("whole", f"{code}-whole")):
                    there = texts[f"database.{word}"].texts[language]
                    said = said.replace(f"{{{blank}:text}}", there)
                hint = OF_DATABASES.get(key, f"{key}-hint").format(code)
            elif key.startswith("document."):
                whole = texts[f"whole.{WHOLE[code]}"].texts[language]
                said, hint = said.replace("{whole:text}", whole), f"hint.{WHOLE[code]}"
            way_out = f" *{_plain(texts[hint].texts[language])}*" if hint else ""
            lines.append(f"* {_plain(said)}{way_out}")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"
