"""The profile: everything that is not secret and without which verification fails.

docs/scheme.md §6. Generator and verifier share one small JSON file. Unknown fields, wrong types
and values out of range are refused with the field's name.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import fields as dataclass_fields
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final, Protocol, TypeAlias

from pura.base.catalogue import Phrase, phrase
from pura.base.decoder import (
    IS_TEXT,
    UNBROKEN,
    DecodeError,
    Form,
    check,
    decode,
    form_of,
    matching,
    number,
    one_of,
    refused_as,
    whole,
)
from pura.base.errors import ProfileError, naming, unusable
from pura.base.files import read_start
from pura.base.json_text import former, read_json, sha256
from pura.scheme.fields import Field, check_total, parse_fields, parse_layout
from pura.scheme.foreign import FOREIGN, SETTINGS_FIELD, ForeignMark
from pura.scheme.payload import TBCC_GENERATORS, TBCC_MIN_BITS
from pura.scheme.profile_versions import FIELD as VERSION_FIELD
from pura.scheme.profile_versions import least_version, migrate

SCHEME: Final = "pura1"
CODES: Final = ("spc", "tbcc")
HISTORIES: Final = ("used", "all")
KERNELS: Final = ("cosine", "box", "triangular", "epanechnikov", "biweight", "hard")
PREFIXES: Final = ("none", "bos")
KEY_EPOCHS: Final = ("day", "week", "month")
MAX_EPOCHS: Final = 400  # that one text is read for
_OF_FOREIGN: Final = (
    "scheme",
    "vocab_size",
    "tokenizer",
    "model",
    "key",
    "name",
    "note",
    SETTINGS_FIELD,
)
MAX_PAYLOAD_BITS: Final = 4096
MAX_BEGINNING: Final = 100_000  # characters of a template or a system prompt
PROMPT_HOLE: Final = "{prompt}"
SYSTEM_HOLE: Final = "{system}"
MAX_PROFILE_BYTES: Final = 1 << 20  # a profile is a page; more is not a profile


def _thresholds(value: Any) -> tuple[float, ...]:
    try:
        found = tuple(map(number(0.0, math.inf).read, value))
    except (DecodeError, TypeError):
        found = ()
    if len(found) != 3 or list(found) != sorted(found):
        raise DecodeError(phrase("profile.ascending"))
    return found


def _layout(value: Any) -> tuple[Field, ...]:
    if not isinstance(value, tuple):
        return parse_fields(value)
    if not all(isinstance(one, Field) for one in value):
        raise DecodeError(phrase("profile.layout"))
    return value


_Words: TypeAlias = Annotated[str, form_of({"type": "string"}, IS_TEXT, UNBROKEN)]
_Beginning: TypeAlias = Annotated[
    str,
    form_of(
        {"type": "string", "maxLength": MAX_BEGINNING},
        IS_TEXT,
        UNBROKEN,
        (
            lambda value: len(value) <= MAX_BEGINNING,
            phrase("profile.beginning-long", most=MAX_BEGINNING),
        ),
    ),
]
_Fingerprint: TypeAlias = Annotated[str, matching("[0-9a-f]{16}", phrase("what.fingerprint"))]
_Settings: TypeAlias = Annotated[  # read by their scheme
    ForeignMark,
    form_of(
        {"type": "object"},
        (lambda value: isinstance(value, ForeignMark), phrase("what.not-object")),
    ),
]


class Tokenizing(Protocol):
    """A model, as far as a profile is concerned."""

    @property
    def vocab_size(self) -> int:
        """``V``, the size of its tokenizer."""

    @property
    def tokenizer_fingerprint(self) -> str:
        """16 hex digits."""

    @property
    def fingerprint(self) -> str:
        """16 hex digits that name the weights."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What generator and verifier agree on (docs/scheme.md §6).

    Attributes:
        payload_bits: ``L_m``; 0 for a mark by others, which carries none.
        vocab_size: ``V``, the tokenizer's size.
        scheme: ``pura1``, or a mark by others (:data:`~pura.scheme.foreign.FOREIGN`).
        code: ``spc`` (the paper's parity blocks) or ``tbcc``.
        blocks: Parity blocks ``B``; ``spc`` only.
        context_window: ``W`` in tokens.
        entropy_thresholds_bits: The gate's three thresholds, ascending.
        history: ``used`` (the paper's rule) or ``all``.
        temperature: Of the generator's sampling.
        top_k: 0 = off.
        top_p: 1 = off.
        kernel: Of the paper's extraction.
        llr_clip: ``ε`` of the paper's extraction.
        prefix: What the verifier feeds before the text.
        tokenizer: Fingerprint of the tokenizer, 16 hex digits, or None.
        model: Fingerprint of the generating model, or None.
        key: Fingerprint of the key, or None.
        key_epochs: ``day``, ``week`` or ``month`` where texts are marked with a key of that time
            that is derived from the key (docs/custody.md); None where the key itself marks.
        chat_template: What stands before the text at the generator, with the hole ``{prompt}`` for
            what is unknown, and ``{system}`` for the system prompt; None where nothing is known.
        system_prompt: What fills ``{system}``.
        fields: Payload layout; empty when the payload is plain bits.
        name: For people.
        note: For people.
        foreign: Settings of a mark by others; then ``key`` is the one that its secret is sealed
            under, and of the other settings only tokenizer and model mean anything.
    """

    payload_bits: Annotated[int, whole(0, MAX_PAYLOAD_BITS)]
    vocab_size: Annotated[int, whole(2, 1 << 24)]
    scheme: Annotated[str, one_of(SCHEME, *FOREIGN)] = SCHEME
    code: Annotated[str, one_of(*CODES)] = "spc"
    blocks: Annotated[int, whole(1, MAX_PAYLOAD_BITS)] | None = None
    context_window: Annotated[int, whole(1, 8)] = 2
    entropy_thresholds_bits: Annotated[
        tuple[float, float, float], Form(read=_thresholds, schema={"type": "array"})
    ] = (1.0, 3.0, 5.0)
    history: Annotated[str, one_of(*HISTORIES)] = "used"
    temperature: Annotated[float, number(0.0, 1000.0, "()")] = 1.0
    top_k: Annotated[int, whole(0, 1 << 24)] = 0
    top_p: Annotated[float, number(0.0, 1.0, "(]")] = 1.0
    kernel: Annotated[str, one_of(*KERNELS)] = "cosine"
    llr_clip: Annotated[float, number(0.0, 0.5, "()")] = 1e-3
    prefix: Annotated[str, one_of(*PREFIXES)] = "none"
    tokenizer: _Fingerprint | None = None
    model: _Fingerprint | None = None
    key: _Fingerprint | None = None
    key_epochs: Annotated[str, one_of(*KEY_EPOCHS)] | None = None
    chat_template: _Beginning | None = None
    system_prompt: _Beginning | None = None
    fields: Annotated[tuple[Field, ...], Form(read=_layout, schema={"type": "array"})] = ()
    name: _Words | None = None
    note: _Words | None = None
    foreign: _Settings | None = None

    def __post_init__(self) -> None:
        _check_foreign(self)
        with refused_as(ProfileError, "profile"):
            check(self)  # 1 and 1.0 become one profile, with one fingerprint
        if self.foreign is None:
            _check_code(self)
            _check_beginning(self)

    @classmethod
    def new(
        cls,
        model: Tokenizing | None = None,
        *,
        bits: int = 36,
        code: str = "tbcc",
        blocks: int | None = None,
        vocab_size: int | None = None,
        fields: Sequence[Field] | Sequence[Mapping[str, Any]] = (),
        **settings: Any,
    ) -> Profile:
        """Make a profile with the defaults of the command.

        Args:
            model: Whose tokenizer it is for: a loaded or an installed model.
            bits: Payload bits.
            code: ``tbcc`` (stronger) or ``spc`` (the paper's).
            blocks: Parity blocks, with ``spc``; None takes the usual number.
            vocab_size: Size of a tokenizer that is not here; instead of a model.
            fields: The payload's layout, as values or as it stands in a profile file.
            **settings: Further attributes of the profile, e.g. ``name`` or ``temperature``.

        Raises:
            ProfileError: A setting does not fit, or neither model nor vocabulary is given.
        """
        if model is not None:
            settings |= {
                "vocab_size": model.vocab_size,
                "tokenizer": model.tokenizer_fingerprint,
                "model": model.fingerprint,
            }
        elif vocab_size is not None:
            settings["vocab_size"] = vocab_size
        else:
            raise ProfileError("profile.no-tokenizer", code="model-missing")
        if code == "spc" and blocks is None:
            blocks = default_blocks(bits)
        entries = [one.to_dict() if isinstance(one, Field) else dict(one) for one in fields]
        layout = parse_layout(entries, bits) if entries else ()
        return cls(payload_bits=bits, code=code, blocks=blocks, fields=layout, **settings)

    @property
    def coding(self) -> str:
        """The code; of a mark by others, which has none, the scheme."""
        return self.code if self.foreign is None else self.scheme

    @property
    def codeword_length(self) -> int:
        """``n``, the number of coded positions."""
        if self.code == "tbcc":
            return len(TBCC_GENERATORS) * self.payload_bits
        return self.payload_bits + self.block_count

    @property
    def block_count(self) -> int:
        """``B``; 1 for ``tbcc``, whose codeword is one piece."""
        return self.blocks or 1

    @classmethod
    def from_dict(cls, data: object) -> Profile:
        """Read a profile from parsed JSON.

        Raises:
            ProfileError: Names the field that is missing, unknown, of a wrong type or range.
        """
        return cls._read(data)[0]

    @classmethod
    def _read(cls, data: object) -> tuple[Profile, tuple[str, ...]]:
        """Return the profile, and what was done to read it (:func:`migrate`)."""
        if not isinstance(data, dict):
            raise unusable(ProfileError, "profile", phrase("what.object"))
        data, notes = migrate(data)
        settings = FOREIGN.get(str(data.get("scheme")))
        known = {f.name for f in dataclass_fields(cls)} - {SETTINGS_FIELD}
        needed: tuple[str, ...] = ("scheme",)
        if settings is not None:
            known, needed = set(_OF_FOREIGN), ("vocab_size", "key", SETTINGS_FIELD)
        if unknown := sorted(str(k) for k in data.keys() - known):
            raise _refusal(unknown[0], phrase("what.unknown"))
        for name in needed:
            if name not in data:
                raise _refusal(name, phrase("what.missing"))
        if settings is not None:
            data |= {"payload_bits": 0, SETTINGS_FIELD: settings.from_dict(data[SETTINGS_FIELD])}
        with refused_as(ProfileError, "profile"):
            return decode(cls, data, sparse=True), notes

    @classmethod
    def from_json(cls, text: str | bytes) -> Profile:
        """Read a profile from its JSON text.

        Raises:
            ProfileError: Not JSON, or not a valid profile.
        """
        return cls._read(_parse(text))[0]

    @classmethod
    def load(cls, path: Path) -> Profile:
        """Read a profile file; see :meth:`load_noted`."""
        return cls.load_noted(path)[0]

    @classmethod
    def load_noted(cls, path: Path) -> tuple[Profile, tuple[str, ...]]:
        """Read a profile file, and tell what was done to read it.

        Returns:
            The profile, and keys of :data:`~pura.scheme.profile_versions.NOTES`; none for a file
            of the present version.

        Raises:
            ProfileError: The file cannot be read, or is not a valid profile.
        """
        data = read_start(path, MAX_PROFILE_BYTES, ProfileError)
        with naming(path.name):
            return cls._read(_parse(data))

    def to_dict(self) -> dict[str, Any]:
        """Return the profile as plain JSON values; fields that are not set are left out."""
        out: dict[str, Any] = {"scheme": self.scheme}
        if self.foreign is not None:
            out |= {name: getattr(self, name) for name in _OF_FOREIGN}
            out[SETTINGS_FIELD] = self.foreign.to_dict()
            return {name: value for name, value in out.items() if value is not None}
        for field in dataclass_fields(self):
            value = getattr(self, field.name)
            if value is None or value == () or field.name == "scheme":
                continue
            out[field.name] = value
        out["entropy_thresholds_bits"] = list(self.entropy_thresholds_bits)
        if self.fields:
            out["fields"] = [f.to_dict() for f in self.fields]
        return out

    def to_json(self) -> str:
        """Return the profile as the text of a profile file, in the present version."""
        fields = self.to_dict()
        data = {"scheme": self.scheme, VERSION_FIELD: least_version(fields)} | fields
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"

    @cached_property
    def fingerprint(self) -> str:
        """16 hex digits over everything that marks or reads; names, notes and limits do not."""
        data = self.to_dict()
        for name in ("name", "note", "key", "key_epochs", "model"):
            data.pop(name, None)
        if self.limited:  # what a verifier expects of a payload changes no mark
            data["fields"] = [replace(field, limits=()).to_dict() for field in self.fields]
        return sha256(former(data, escaped=False))[:16]

    @property
    def limited(self) -> bool:
        """Whether it says of any field what can have been issued at most."""
        return any(field.limits for field in self.fields)

    @property
    def names_today(self) -> bool:
        """Whether a limit of a field depends on the day of the audit."""
        return any(field.names_today for field in self.fields)

    def on(self, day: dt.date) -> Profile:
        """Return the profile with ``today`` in limits written out; fingerprint as before.

        Raises:
            ProfileError: The limits of a field admit nothing on that day.
        """
        if not self.limited:
            return self
        fields = tuple(field.on(day) for field in self.fields)
        for field in fields:
            _ = field.ranges  # refuses limits that admit nothing
        return replace(self, fields=fields)

    def with_limits(self, limits: Mapping[str, Sequence[str]]) -> Profile:
        """Return the profile with other limits of its fields.

        Args:
            limits: By the name of a field; one that is not named has none.

        Raises:
            ProfileError: There is no such field, or a limit is none of it.
        """
        names = [field.name for field in self.fields]
        for name in limits:
            if name not in names:
                raise ProfileError("choice.unknown", name=name, known=", ".join(names) or "–")
        entries = [
            replace(field, limits=()).to_dict()
            | ({"limits": list(limits[field.name])} if limits.get(field.name) else {})
            for field in self.fields
        ]
        return replace(self, fields=parse_layout(entries, self.payload_bits))

    def with_(self, **changes: Any) -> Profile:
        """Return a copy with some fields changed, checked like a new one."""
        return replace(self, **changes)


def _parse(text: str | bytes) -> object:
    if len(text) > MAX_PROFILE_BYTES:
        raise unusable(ProfileError, "profile", phrase("what.large"))
    with refused_as(ProfileError, "profile"):
        return read_json(text)


def _refusal(name: str, problem: Phrase) -> ProfileError:
    return unusable(ProfileError, "profile", problem, name)


def _check_foreign(profile: Profile) -> None:
    settings = FOREIGN.get(str(profile.scheme))
    if settings is None:
        if profile.foreign is not None:
            raise _refusal("scheme", phrase("what.one-of", known=", ".join(FOREIGN)))
        return
    if type(profile.foreign) is not settings or profile.key is None or profile.payload_bits:
        raise _refusal(SETTINGS_FIELD, phrase("what.missing"))


def _check_code(profile: Profile) -> None:
    if not profile.payload_bits:
        raise _refusal("payload_bits", phrase("what.between", low=1, high=MAX_PAYLOAD_BITS))
    if profile.code == "tbcc":
        if profile.blocks is not None:
            raise _refusal("blocks", phrase("profile.spc-only"))
        if profile.payload_bits < TBCC_MIN_BITS:
            raise _refusal("payload_bits", phrase("profile.tbcc-least", least=TBCC_MIN_BITS))
    elif profile.blocks is None:
        raise _refusal("blocks", phrase("what.missing"))
    elif profile.payload_bits % profile.blocks:
        raise _refusal("blocks", phrase("profile.divide"))
    check_total(profile.fields, profile.payload_bits)


def _check_beginning(profile: Profile) -> None:
    template = profile.chat_template
    if template is None:
        if profile.system_prompt is not None:
            raise _refusal("system_prompt", phrase("profile.no-template"))
        return
    if template.count(PROMPT_HOLE) != 1:
        raise _refusal("chat_template", phrase("profile.prompt-hole", hole=PROMPT_HOLE))
    if template.count(SYSTEM_HOLE) != (profile.system_prompt is not None):
        raise _refusal("chat_template", phrase("profile.system-hole", hole=SYSTEM_HOLE))


def default_blocks(payload_bits: int) -> int:
    """Return the paper's number of parity blocks, or the nearest that divides the payload.

    3 up to 30 bits, 4 from there (paper §6.1, "Configuration").
    """
    wanted = 3 if payload_bits <= 30 else 4
    divisors = [b for b in range(1, payload_bits + 1) if payload_bits % b == 0]
    return min(divisors, key=lambda b: (abs(b - wanted), b))
