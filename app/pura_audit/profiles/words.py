"""What the settings of a profile do, and what is odd about a value, in the window's words."""

from __future__ import annotations

from pura.scheme import Profile
from pura.verdict.expect import advise, length_needed
from pura_audit.platform.i18n import filled, translate


def code_names() -> dict[str | None, str]:
    """Return what people call the codes, the stronger first."""
    return {
        "tbcc": translate("ProfileEditor", "convolutional"),
        "spc": translate("ProfileEditor", "parity blocks (the paper's)"),
    }


def history_names() -> dict[str | None, str]:
    """Return what people call the rules of the history."""
    return {
        "used": translate("ProfileEditor", "contexts that have carried bits"),
        "all": translate("ProfileEditor", "all contexts of the text"),
    }


def prefix_names() -> dict[str | None, str]:
    """Return what people call what stands before a text."""
    return {
        "none": translate("ProfileEditor", "nothing"),
        "bos": translate("ProfileEditor", "the start token of the tokenizer"),
    }


def epoch_names() -> dict[str | None, str]:
    """Return how long a key may be used."""
    return {
        None: translate("ProfileEditor", "one key for all time"),
        "day": translate("ProfileEditor", "a key for each day"),
        "week": translate("ProfileEditor", "a key for each week"),
        "month": translate("ProfileEditor", "a key for each month"),
    }


def explain(setting: str) -> str:
    """Return what a setting does."""
    words = {
        "name": translate("ProfileEditor", "How people call the profile. It changes nothing."),
        "note": translate("ProfileEditor", "For people: who uses it, and what for."),
        "payload_bits": translate(
            "ProfileEditor",
            "How much a mark tells: each bit doubles the number of recipients that can be told "
            "apart, and takes a little more text.",
        ),
        "code": translate(
            "ProfileEditor",
            "How the payload is protected against lost positions. The convolutional code reads "
            "edited texts better; the paper's has blocks with one parity bit each.",
        ),
        "blocks": translate(
            "ProfileEditor",
            "How many blocks of one parity bit the paper's code has; it divides the payload bits.",
        ),
        "context_window": translate(
            "ProfileEditor",
            "How many tokens before a position decide its place in the schedule. Each edited "
            "word disturbs so many positions after it.",
        ),
        "thresholds": translate(
            "ProfileEditor",
            "From how many bits of entropy on a token carries one, two or three bits of the "
            "codeword. Below the first it carries none.",
        ),
        "history": translate(
            "ProfileEditor",
            "When the words before a position count as seen, so that it carries nothing: once they "
            "have carried bits (the paper's rule), or as soon as they have stood in the text.",
        ),
        "temperature": translate(
            "ProfileEditor",
            "The generator's temperature. The verifier must use the same; the lower, the fewer "
            "tokens have a choice and can carry bits.",
        ),
        "top_k": translate(
            "ProfileEditor",
            "The generator's choice of the likeliest tokens; 0 is off.",
        ),
        "top_p": translate(
            "ProfileEditor",
            "The generator's choice of the likeliest share of tokens; 1 is off.",
        ),
        "prefix": translate(
            "ProfileEditor",
            "Whether the verifier puts the tokenizer's start token before the text. Use it for "
            "models that need one.",
        ),
        "chat_template": translate(
            "ProfileEditor",
            "What stands before the text at the generator, if that is constant: the model's chat "
            "template, with the word prompt in braces where the user's message goes, and the word "
            "system in braces for the system prompt. The verifier then reads the text after it.",
        ),
        "system_prompt": translate(
            "ProfileEditor",
            "The generator's system prompt; it goes where the template says system in braces. "
            "Records and reports hold the profile, and so this text.",
        ),
        "model": translate(
            "ProfileEditor",
            "The tokenizer and the generating model that the profile names; a wrong tokenizer is "
            "then refused before an audit begins.",
        ),
        "key": translate(
            "ProfileEditor",
            "The key that the profile belongs to. With it, a wrong key is noticed before an "
            "audit begins.",
        ),
        "key_epochs": translate(
            "ProfileEditor",
            "Whether each day, week or month has a key of its own, derived from the key. An audit "
            "then tries those of the last ones; the policy says how many. One that leaks, or must "
            "be shown to a court, says nothing about the others.",
        ),
        "fields": translate(
            "ProfileEditor",
            "What the payload bits mean, in order; the widths add up to the payload bits. "
            "More: integer: the number that zero stands for. enumeration: names, with commas. "
            "date: first day and unit, as 2026-01-01 day. version: widths, as 4.4.8. "
            "At most: what can have been issued, as ..4999 or 2026-01-01..today or 1.0, 1.2; "
            "state it before you look at a text. Short texts are then found sooner.",
        ),
    }
    return words.get(setting, "")


def odd(profile: Profile) -> str:
    """Return what is odd about a profile; nothing when all is well."""
    words = {
        "few-bits": translate(
            "ProfileEditor", "So few bits tell only a handful of recipients apart."
        ),
        "many-bits": translate("ProfileEditor", "So many bits take long texts."),
        "paper-code": translate(
            "ProfileEditor", "The convolutional code reads edited texts better."
        ),
        "cold": translate("ProfileEditor", "At so low a temperature few tokens can carry bits."),
        "hot": translate("ProfileEditor", "At so high a temperature texts lose their thread."),
        "narrow-k": translate("ProfileEditor", "Top-k leaves little choice to carry bits."),
        "narrow-p": translate("ProfileEditor", "Top-p leaves little choice to carry bits."),
        "low-gate": translate(
            "ProfileEditor",
            "So low a first threshold lets positions in that carry next to nothing.",
        ),
        "high-gate": translate(
            "ProfileEditor", "So high a first threshold leaves few positions that carry bits."
        ),
        "short-window": translate("ProfileEditor", "A window of one token repeats itself often."),
        "long-window": translate(
            "ProfileEditor", "With so long a window each edited word disturbs many positions."
        ),
        "no-tokenizer": translate(
            "ProfileEditor",
            "Without a tokenizer's fingerprint a wrong model is noticed by its size only.",
        ),
        "no-key": translate(
            "ProfileEditor",
            "The profile names no key: a wrong key is not noticed before the audit.",
        ),
    }
    return "\n".join(words[code] for code in advise(profile))


def length(profile: Profile) -> str:
    """Return how much text a finding takes, where that was measured."""
    found = length_needed(profile)
    if found is None:
        return translate(
            "ProfileEditor",
            "How much text a finding takes was not measured for these settings; Models, How much "
            "is found measures it.",
        )
    words = translate(
        "ProfileEditor",
        "A finding takes about {tokens:count} tokens of unedited text of the built-in model "
        "({usable:count} usable positions, nine texts in ten, prompt unknown).",
    )
    return filled(words, tokens=found[1], usable=found[0])
