"""What the checks say, in both languages; one table, filled by :func:`say`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

LANGUAGES: Final = ("en", "de")

NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "file": ("File", "Datei"),
    "record": ("Embedded record", "Eingebettetes Protokoll"),
    "digest": ("Printed SHA-256", "Gedruckter SHA-256"),
    "schema": ("Form of the record", "Form des Protokolls"),
    "printed": ("Printed values", "Gedruckte Werte"),
    "findings": ("Findings digest", "Prüfsumme der Befunde"),
    "integrity": ("Signed bytes", "Signierte Bytes"),
    "signer": ("Who signed, when", "Wer signierte, wann"),
    "time": ("Time stamp", "Zeitstempel"),
    "trust": ("Trust in the signer", "Vertrauen in den Signierenden"),
    "coverage": ("Signed part of the file", "Signierter Teil der Datei"),
    "changes": ("Changes after signing", "Änderungen nach dem Signieren"),
    "repeat": ("Fresh audit", "Erneute Prüfung"),
}

STATES: Final[Mapping[str, tuple[str, str]]] = {
    "good": ("as it should be", "wie es sein soll"),
    "notice": ("worth knowing", "wissenswert"),
    "bad": ("not as it should be", "nicht wie es sein soll"),
    "open": ("not examined", "nicht geprüft"),
}

SENTENCES: Final[Mapping[str, tuple[str, str]]] = {
    "file.sound": (
        "A readable PDF (pages: {pages}); SHA-256 of the file {sha}.",
        "Ein lesbares PDF (Seiten: {pages}); SHA-256 der Datei {sha}.",
    ),
    "file.not-pdf": (
        "This is not a PDF.",
        "Das ist kein PDF.",
    ),
    "file.damaged": (
        "The PDF is damaged; its pages cannot be read.",
        "Das PDF ist beschädigt; seine Seiten sind nicht lesbar.",
    ),
    "file.tail": (
        "{bytes} bytes were appended after the end of the PDF.",
        "Hinter dem Ende des PDF wurden {bytes} Bytes angehängt.",
    ),
    "file.saved": (
        "The PDF was saved again after it was made (incremental update).",
        ("Das PDF wurde nach der Erstellung erneut gespeichert (inkrementelle Aktualisierung)."),
    ),
    "record.found": (
        "“{name}”, {size} bytes.",
        "„{name}“, {size} Bytes.",
    ),
    "record.none": (
        (
            "No record is embedded in the file; it is not a report of this program, or the "
            "record was taken out."
        ),
        (
            "In der Datei ist kein Protokoll eingebettet; sie ist kein Bericht dieses "
            "Programms, oder das Protokoll wurde entfernt."
        ),
    ),
    "record.several": (
        "Several records are embedded: {names}. A report of this program holds one.",
        (
            "Es sind mehrere Protokolle eingebettet: {names}. Ein Bericht dieses Programms "
            "enthält eines."
        ),
    ),
    "digest.same": (
        "The digest of the embedded record stands in the text: {sha}.",
        "Die Prüfsumme des eingebetteten Protokolls steht im Text: {sha}.",
    ),
    "digest.other": (
        (
            "The embedded record has the digest {sha}, which the text does not print: record "
            "or text was exchanged."
        ),
        (
            "Das eingebettete Protokoll hat die Prüfsumme {sha}; im Text steht sie nicht: "
            "Protokoll oder Text wurde ausgetauscht."
        ),
    ),
    "schema.valid": (
        "{count} audits, each complete and of the schema {schema}.",
        "{count} Prüfungen, jede vollständig und nach dem Schema {schema}.",
    ),
    "schema.invalid": (
        "The record does not follow its schema: {why}",
        "Das Protokoll folgt seinem Schema nicht: {why}",
    ),
    "printed.same": (
        "The text prints what the record says: items, keys and payloads.",
        "Der Text druckt, was das Protokoll sagt: Gegenstände, Schlüssel und Nutzlasten.",
    ),
    "printed.other": (
        (
            "The text does not print what the record says; missing: {what}. Text or record "
            "was edited."
        ),
        (
            "Der Text druckt nicht, was das Protokoll sagt; es fehlt: {what}. Text oder "
            "Protokoll wurde verändert."
        ),
    ),
    "findings.same": (
        "The findings of the record have the digest that the pages print.",
        "Die Befunde des Protokolls haben die gedruckte Prüfsumme.",
    ),
    "findings.other": (
        (
            "The findings of the record do not have the digest that the pages print: one of the "
            "two was edited."
        ),
        (
            "Die Befunde des Protokolls haben nicht die gedruckte Prüfsumme: Eines von beiden "
            "wurde verändert."
        ),
    ),
    "integrity.none": (
        "The report is not signed. Changes outside the embedded record cannot be seen.",
        (
            "Der Bericht ist nicht signiert. Änderungen außerhalb des eingebetteten "
            "Protokolls sind nicht erkennbar."
        ),
    ),
    "integrity.intact": (
        "The signed bytes are as they were signed.",
        "Die signierten Bytes sind so, wie sie signiert wurden.",
    ),
    "integrity.broken": (
        "Bytes inside the signed part were changed after signing.",
        "Bytes im signierten Teil wurden nach dem Signieren verändert.",
    ),
    "integrity.invalid": (
        "The signature does not fit the key of its certificate.",
        "Die Signatur passt nicht zum Schlüssel ihres Zertifikats.",
    ),
    "integrity.unreadable": (
        "The signature is damaged and cannot be checked ({why}).",
        "Die Signatur ist beschädigt und nicht prüfbar ({why}).",
    ),
    "signer.who": (
        "{subject}; issued by {issuer}. Signed {when}. Certificate SHA-256 {sha}.",
        "{subject}; ausgestellt von {issuer}. Signiert {when}. Zertifikat SHA-256 {sha}.",
    ),
    "time.stamped": (
        "A time-stamp authority confirms {when}.",
        "Eine Zeitstempelstelle bestätigt {when}.",
    ),
    "time.unknown-authority": (
        "A time stamp says {when}; its authority is not among the certificates you trust.",
        (
            "Ein Zeitstempel nennt {when}; seine Stelle gehört nicht zu den Zertifikaten, "
            "denen Sie vertrauen."
        ),
    ),
    "time.clock": (
        ("None. The time comes from the signer's own clock and is not independently confirmed."),
        (
            "Keiner. Die Zeit stammt von der Uhr des Signierenden und ist nicht unabhängig "
            "bestätigt."
        ),
    ),
    "trust.trusted": (
        "The certificate leads to one that you trust.",
        "Das Zertifikat führt zu einem, dem Sie vertrauen.",
    ),
    "trust.none-given": (
        (
            "Not examined: no trusted certificate was named. Compare the fingerprint with the"
            " one the organisation publishes, or name its certificate."
        ),
        (
            "Nicht geprüft: Es wurde kein vertrauenswürdiges Zertifikat genannt. Vergleichen "
            "Sie den Fingerabdruck mit dem, den die Organisation veröffentlicht, oder nennen "
            "Sie ihr Zertifikat."
        ),
    ),
    "trust.unknown": (
        "The certificate does not lead to one that you trust.",
        "Das Zertifikat führt zu keinem, dem Sie vertrauen.",
    ),
    "trust.expired": (
        "The certificate expired on {when}.",
        "Das Zertifikat ist am {when} abgelaufen.",
    ),
    "coverage.whole": (
        "The signature covers the file from the first byte to the last.",
        "Die Signatur umfasst die Datei vom ersten bis zum letzten Byte.",
    ),
    "coverage.part": (
        "The signature covers the first {end} of {size} bytes only.",
        "Die Signatur umfasst nur die ersten {end} von {size} Bytes.",
    ),
    "changes.none": (
        "None.",
        "Keine.",
    ),
    "changes.tail": (
        "{bytes} bytes follow the signed part; they change nothing that is shown.",
        "Dem signierten Teil folgen {bytes} Bytes; am Gezeigten ändern sie nichts.",
    ),
    "changes.saved": (
        "The file was saved again after signing (incremental update, {bytes} bytes).",
        (
            "Die Datei wurde nach dem Signieren erneut gespeichert (inkrementelle "
            "Aktualisierung, {bytes} Bytes)."
        ),
    ),
    "changes.pages": (
        "The text of these pages was changed after signing: {pages}.",
        "Der Text dieser Seiten wurde nach dem Signieren verändert: {pages}.",
    ),
    "changes.attachments": (
        "These attachments were exchanged, added or taken out after signing: {names}.",
        (
            "Diese Anhänge wurden nach dem Signieren ausgetauscht, hinzugefügt oder entfernt:"
            " {names}."
        ),
    ),
    "repeat.identical": (
        "A fresh audit gave the same findings to the last digit.",
        "Eine erneute Prüfung ergab dieselben Befunde bis auf die letzte Ziffer.",
    ),
    "repeat.same": (
        (
            "A fresh audit of the embedded text gives the same payload and outcome; the "
            "evidence differs by {delta} of a power of ten."
        ),
        (
            "Eine erneute Prüfung des eingebetteten Textes ergibt dieselbe Nutzlast und "
            "denselben Ausgang; die Beweisstärke weicht um {delta} Zehnerpotenzen ab."
        ),
    ),
    "repeat.other": (
        "A fresh audit of the embedded text does not give the recorded {what}.",
        ("Eine erneute Prüfung des eingebetteten Textes ergibt nicht das Festgehaltene: {what}."),
    ),
    "repeat.not-asked": (
        "Not asked for.",
        "Nicht verlangt.",
    ),
    "repeat.not-possible": (
        "Not possible here: {why}",
        "Hier nicht möglich: {why}",
    ),
}


def say(key: str, language: str, values: Mapping[str, object]) -> str:
    """Return a sentence of the table with its blanks filled."""
    return SENTENCES[key][LANGUAGES.index(language)].format_map(dict(values))


def name(check: str, language: str) -> str:
    """Return how a check is called."""
    return NAMES[check][LANGUAGES.index(language)]


def state(of: str, language: str) -> str:
    """Return how a result is called."""
    return STATES[of][LANGUAGES.index(language)]
