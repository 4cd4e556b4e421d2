"""What the checks of a case log say, in both languages; one table, filled by :func:`say`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "chain": ("Chain of entries", "Kette der Einträge"),
    "cases": ("Chains of the cases", "Ketten der Fälle"),
    "kept": ("Kept names, texts and records", "Aufbewahrte Namen, Texte und Protokolle"),
    "signatures": ("Signed heads", "Signierte Stände"),
    "head": ("Head to compare with", "Vergleichsstand"),
    "clock": ("Times", "Zeiten"),
    "file": ("File", "Datei"),
}

SENTENCES: Final[Mapping[str, tuple[str, str]]] = {
    "chain.whole": (
        "{count} entries, each the one that follows from the one before; the head is {head}.",
        "{count} Einträge, jeder folgt aus dem vorigen; der Stand ist {head}.",
    ),
    "chain.missing": (
        "Entry {seq} is missing.",
        "Eintrag {seq} fehlt.",
    ),
    "chain.reordered": (
        (
            "At the place of entry {seq} stands what was written as entry {found}: entries were "
            "reordered."
        ),
        (
            "An der Stelle von Eintrag {seq} steht, was als Eintrag {found} geschrieben wurde: "
            "Einträge wurden vertauscht."
        ),
    ),
    "chain.altered": (
        "Entry {seq} was altered: its content is not what its hash says.",
        "Eintrag {seq} wurde geändert: Sein Inhalt passt nicht zu seinem Hash.",
    ),
    "chain.replaced": (
        "Entry {seq} was replaced: the next one follows from another.",
        "Eintrag {seq} wurde ersetzt: Der nächste folgt aus einem anderen.",
    ),
    "chain.unreadable": (
        "Entry {seq} is not readable.",
        "Eintrag {seq} ist nicht lesbar.",
    ),
    "chain.index": (
        "Entry {seq} is filed under another case, audit, action or time than it says itself.",
        (
            "Eintrag {seq} ist unter einem anderen Fall, Vorgang oder Zeitpunkt abgelegt, als er "
            "selbst angibt."
        ),
    ),
    "chain.empty": (
        "The log has no entries.",
        "Das Fallbuch hat keine Einträge.",
    ),
    "cases.whole": (
        "{count} cases; the entries of each follow from one another.",
        "{count} Fälle; die Einträge eines jeden folgen auseinander.",
    ),
    "cases.broken": (
        "Entry {seq} does not follow from the one before it in its case.",
        "Eintrag {seq} folgt nicht aus dem vorigen seines Falls.",
    ),
    "cases.foreign": (
        "Entry {seq} of an imported case was altered.",
        "Eintrag {seq} eines übernommenen Falls wurde geändert.",
    ),
    "kept.whole": (
        "{count} things are kept, each as the chain committed to it; {erased} were erased.",
        (
            "{count} Dinge sind aufbewahrt, jedes so, wie die Kette es festhält; {erased} wurden "
            "laut Eintrag gelöscht."
        ),
    ),
    "kept.altered": (
        "What is kept beside entry {seq} ({field}) was altered.",
        "Was zu Eintrag {seq} aufbewahrt ist ({field}), wurde geändert.",
    ),
    "kept.missing": (
        (
            "What was kept beside entry {seq} ({field}) is gone, and no entry says that it was "
            "erased."
        ),
        (
            "Was zu Eintrag {seq} aufbewahrt war ({field}), ist fort, und kein Eintrag nennt eine"
            " Löschung."
        ),
    ),
    "kept.stray": (
        "Something is kept beside entry {seq} ({field}) that the chain does not know.",
        "Zu Eintrag {seq} ist etwas aufbewahrt ({field}), das die Kette nicht kennt.",
    ),
    "signatures.none": (
        (
            "No head was signed. The end of the chain can then be checked only against a head "
            "that was printed or deposited."
        ),
        (
            "Kein Stand wurde signiert. Das Ende der Kette lässt sich dann nur gegen einen "
            "gedruckten oder hinterlegten Stand prüfen."
        ),
    ),
    "signatures.good": (
        (
            "{count} signed heads, all of them of this chain; the newest is of entry {seq}, "
            "signed by {who}."
        ),
        (
            "{count} signierte Stände, alle von dieser Kette; der neueste ist der von Eintrag "
            "{seq}, signiert von {who}."
        ),
    ),
    "signatures.untrusted": (
        (
            "{count} signed heads, all of them of this chain; the newest is of entry {seq}, "
            "signed by {who}. No trusted certificate vouches for the signer."
        ),
        (
            "{count} signierte Stände, alle von dieser Kette; der neueste ist der von Eintrag "
            "{seq}, signiert von {who}. Für den Signierenden bürgt kein vertrautes Zertifikat."
        ),
    ),
    "signatures.bad": (
        "The signature of entry {seq} does not fit the chain.",
        "Die Signatur von Eintrag {seq} passt nicht zur Kette.",
    ),
    "signatures.missing": (
        "The signature that entry {seq} names is gone.",
        "Die Signatur, die Eintrag {seq} nennt, ist fort.",
    ),
    "head.there": (
        "The chain holds entry {seq} with this hash.",
        "Die Kette enthält Eintrag {seq} mit diesem Hash.",
    ),
    "head.cut": (
        "The log ends at entry {last}; entry {seq} was there once and is missing.",
        "Das Fallbuch endet bei Eintrag {last}; Eintrag {seq} gab es einmal, er fehlt.",
    ),
    "head.other": (
        (
            "Entry {seq} has another hash than the one to compare with: the chain was rewritten, "
            "or this is another log."
        ),
        (
            "Eintrag {seq} hat einen anderen Hash als der Vergleichsstand: Die Kette wurde neu "
            "geschrieben, oder dies ist ein anderes Fallbuch."
        ),
    ),
    "head.none": (
        "None was given. The end of a chain can be cut off without a trace in the chain itself.",
        (
            "Keiner wurde angegeben. Das Ende einer Kette lässt sich abschneiden, ohne dass die "
            "Kette selbst es zeigt."
        ),
    ),
    "clock.forward": (
        "The times of the entries never run backwards.",
        "Die Zeiten der Einträge laufen nie rückwärts.",
    ),
    "clock.back": (
        "At entry {seq} the computer's clock had been set back.",
        "Bei Eintrag {seq} war die Uhr des Rechners zurückgestellt.",
    ),
    "file.sound": (
        "The file of the log is sound.",
        "Die Datei des Fallbuchs ist unversehrt.",
    ),
    "file.damaged": (
        "The file of the log is damaged.",
        "Die Datei des Fallbuchs ist beschädigt.",
    ),
}
_COLUMN: Final = {"en": 0, "de": 1}


def say(key: str, language: str, values: Mapping[str, object]) -> str:
    """Return a sentence with its blanks filled."""
    return SENTENCES[key][_COLUMN[language]].format(**values)


def name(key: str, language: str) -> str:
    """Return what a check is called."""
    return NAMES[key][_COLUMN[language]]
