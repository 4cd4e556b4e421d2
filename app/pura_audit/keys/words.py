"""What the dialogs of the keys say, in the language of the window."""

from __future__ import annotations

from pura.keys import KeyEntry, KeyRole, Place, State
from pura_audit.platform.i18n import filled, quoted, translate
from pura_audit.session.choices import Inventory, KeyChoice


def state_words(found: Inventory) -> tuple[str, str, str]:
    """Return the name of the store, the sentence of its state, and the way out."""
    if found.place is Place.KEYRING:
        return (translate("Keys", "This computer’s keyring"), *_keyring(found.keyring))
    if found.place is None:
        return (
            translate("Keys", "No keyring"),
            translate("Keys", "This computer offers no keyring."),
            translate(
                "Keys",
                "Keep keys in encrypted files under a passphrase, or for this session only.",
            ),
        )
    return (translate("Keys", "Encrypted key files"), *_folder(found.files))


def _keyring(state: State) -> tuple[str, str]:
    match state:
        case State.READY:
            return translate("Keys", "Ready. New keys are kept in it."), ""
        case State.LOCKED:
            return (
                translate("Keys", "Locked: no key can be read or stored."),
                translate("Keys", "Unlock it here, or log in to your desktop session again."),
            )
        case State.GONE:
            return (
                translate("Keys", "It does not answer any more."),
                translate("Keys", "Log in to your desktop session again, which starts it anew."),
            )
        case _:
            return (
                translate("Keys", "It refuses this program."),
                translate(
                    "Keys",
                    "Allow this program to use it, or ask whoever manages this computer. Keys can "
                    "be kept in encrypted files meanwhile.",
                ),
            )


def _folder(state: State) -> tuple[str, str]:
    match state:
        case State.READY:
            return translate("Keys", "Unlocked for this session. New keys are kept in them."), ""
        case State.LOCKED:
            return (
                translate("Keys", "Locked: no key can be read or stored."),
                translate("Keys", "Unlock them with their passphrase."),
            )
        case State.DAMAGED:
            return (
                translate("Keys", "The file that checks the passphrase is damaged."),
                translate("Keys", "Put the folder “keys” back from a backup."),
            )
        case _:
            return (
                translate("Keys", "The folder cannot be read."),
                translate("Keys", "Check its permissions."),
            )


def kind_words(choice: KeyChoice) -> str:
    """Say what a key is for."""
    entry = choice.entry
    if entry is None or entry.role is KeyRole.SINGLE:
        return translate("Keys", "Single")
    if entry.role is KeyRole.MASTER:
        return translate("Keys", "Master")
    return filled(translate("Keys", "Derived: {deployment:text}"), deployment=entry.deployment)


def place_words(choice: KeyChoice) -> str:
    """Say where a key is kept."""
    if choice.session or choice.entry is None:
        return translate("Keys", "This session only")
    if choice.entry.place.value == "files":
        return translate("Keys", "Encrypted file")
    return translate("Keys", "Keyring")


def lost_words(choice: KeyChoice, audits: int) -> str:
    """Say what can no longer be verified without a key, a sentence a line.

    Args:
        choice: The key.
        audits: How many texts on the list were audited with it.
    """
    said = [
        translate("Keys", "Texts marked with it can no longer be examined on this computer."),
    ]
    entry, usage = choice.entry, choice.usage
    if entry is not None and entry.deployment:
        said.append(_derived(entry))
    if usage is not None and usage.profiles:
        words = translate("Keys", "Profiles that belong to it: {names:text}.")
        said.append(filled(words, names=_names(usage.profiles)))
    if usage is not None and usage.entries:
        words = translate("Keys", "Payloads in the register that fit these profiles: {n:count}.")
        said.append(filled(words, n=usage.entries))
    if usage is not None and usage.derived:
        words = translate(
            "Keys", "Derived from it: {names:text}. They stay, but cannot be derived again."
        )
        said.append(filled(words, names=_names(tuple(e.name for e in usage.derived))))
    if audits:
        words = translate("Keys", "Texts on the list that were audited with it: {n:count}.")
        said.append(filled(words, n=audits))
    said.append(translate("Keys", "Recorded audits stay readable; they cannot be repeated."))
    if entry is None or not entry.deployment:
        said.append(translate("Keys", "Without an exported copy this cannot be undone."))
    return "\n\n".join(said)


def _derived(entry: KeyEntry) -> str:
    words = translate(
        "Keys",
        "It serves the deployment “{deployment:text}”. Whoever holds the master key {master:text} "
        "can derive it again.",
    )
    return filled(words, deployment=entry.deployment, master=entry.master)


def _names(names: tuple[str, ...], most: int = 6) -> str:
    shown = ", ".join(map(quoted, names[:most]))
    left = len(names) - most
    if left <= 0:
        return shown
    more = filled(translate("Keys", "and {n:count} more"), n=left)
    return f"{shown} {more}"


def strength_words(size: int, least: int) -> tuple[str, bool]:
    """Say how strong a passphrase of this many characters is, and whether it will do."""
    if size < least:
        words = translate("Keys", "{n:text} of at least {least:text} characters")
        return filled(words, n=size, least=least), False
    if size < least + 8:
        return translate("Keys", "Long enough. Longer is better."), True
    return translate("Keys", "Good length."), True
