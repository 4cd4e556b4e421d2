"""The profile: everything that is not secret and without which verification fails.

scheme.md §6. Generator and verifier share one small JSON file. Unknown fields, wrong types
and values out of range are refused with the field's name.

The file has versions: older ones are read, newer ones refused in words. Version 1 had no number and
could leave out whatever had its default. Version 2 says its number, and spells every setting out.
Version 3 may hold what stands before the text at the generator, version 4 that keys are those of a
day, a week or a month, version 5 may be of a mark by others, version 6 may have limits of its
fields, version 7 may say how payloads are used; a profile without that is still written as an
earlier version, which earlier programs read.
The number belongs to the file and not to the profile: all versions of one profile have the same
fingerprint.

Beside it: the folder of stored profiles, and the codeword of a payload under a profile (§2; the
codes themselves, which know no profile, are in :mod:`pura.scheme.payload`).
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import fields as dataclass_fields
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Protocol, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from pura.base.arguments import argument_error, check_argument
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
from pura.base.errors import PayloadError, ProfileError, naming, os_error_as, unusable
from pura.base.files import file_lock, read_start, write_atomic
from pura.base.json_text import former, read_json, sha256
from pura.scheme.fields import Field, check_total, parse_fields, parse_layout
from pura.scheme.foreign import FOREIGN, SETTINGS_FIELD, ForeignMark
from pura.scheme.payload import TBCC_GENERATORS, TBCC_MIN_BITS, Payload, encode_spc, encode_tbcc

_log = logging.getLogger(__name__)

VERSION: Final = 7
VERSION_FIELD: Final = "version"
_SINCE: Final = {
    "chat_template": 3,
    "system_prompt": 3,
    "key_epochs": 4,
    "foreign": 5,
    "payload_use": 7,
}
_LIMITS_SINCE: Final = 6
NOTES: Final = ("version-1",)
"""What may have been done to a file, by key; window and command line say it in their words."""


def migrate(data: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return a profile file's entries in the present form, and what was done: keys of NOTES.

    Raises:
        ProfileError: Written by a newer program, or with a number that is none.
    """
    if VERSION_FIELD not in data:
        return dict(data), ("version-1",)
    version = data[VERSION_FIELD]
    if type(version) is not int or version < 1:
        raise unusable(ProfileError, "profile", phrase("what.unfit"), VERSION_FIELD)
    if version > VERSION:
        raise ProfileError("profile.newer", version=version, known=VERSION, code="profile-newer")
    return {name: value for name, value in data.items() if name != VERSION_FIELD}, ()


def least_version(data: dict[str, Any]) -> int:
    """Return the version as which a profile's entries are written: the least that holds them."""
    limited = any("limits" in field for field in data.get("fields", ()))
    since = [since for name, since in _SINCE.items() if name in data]
    return max(since + [_LIMITS_SINCE] * limited, default=2)


SCHEME: Final = "pura1"
Code: TypeAlias = Literal["spc", "tbcc"]
"""How a payload is spread over the codeword."""
CODES: Final = get_args(Code)
HISTORIES: Final = ("used", "all")
KERNELS: Final = ("cosine", "box", "triangular", "epanechnikov", "biweight", "hard")
PREFIXES: Final = ("none", "bos")
KEY_EPOCHS: Final = ("day", "week", "month")
ANSWER: Final = "answer"
RECIPIENT: Final = "recipient"
PAYLOAD_USES: Final = (ANSWER, RECIPIENT)
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


@dataclass(frozen=True, kw_only=True, repr=False)
class Profile:
    """What generator and verifier agree on (scheme.md §6).

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
            that is derived from the key (custody.md); None where the key itself marks.
        payload_use: ``answer``: each text carries a number of its own, drawn at random and used
            once, and the register says who got it; ``recipient``: the payload itself says who, so
            that texts for one recipient can carry the same; None where nobody said.
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
    payload_use: Annotated[str, one_of(*PAYLOAD_USES)] | None = None
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
            if self.payload_use == ANSWER and self.fields:
                raise _refusal("payload_use", phrase("profile.answer-fields"))

    @classmethod
    def new(
        cls,
        model: Tokenizing | str | Path | None = None,
        *,
        bits: int = 36,
        code: Code = "tbcc",
        blocks: int | None = None,
        vocab_size: int | None = None,
        fields: Sequence[Field] | Sequence[Mapping[str, Any]] = (),
        **settings: Any,
    ) -> Profile:
        """Make a profile with the defaults of the command.

        Args:
            model: Whose tokenizer it is for: a loaded or an installed model, or the name of one.
            bits: Payload bits.
            code: ``tbcc`` (stronger) or ``spc`` (the paper's).
            blocks: Parity blocks, with ``spc``; None takes the usual number.
            vocab_size: Size of a tokenizer that is not here; instead of a model.
            fields: The payload's layout, as values or as it stands in a profile file.
            **settings: Further attributes of the profile, e.g. ``name`` or ``temperature``.

        Raises:
            ProfileError: A setting does not fit, or neither model nor vocabulary is given.
            PuraError: There is no model of that name; an argument has a wrong type, which is a
                :class:`TypeError` as well.

        Examples:
            As a program says it::

                profile = Profile.new("smollm2-135m", name="letters")
        """
        check_argument("bits", bits, int, "number")
        check_argument("blocks", blocks, (int, type(None)), "number-or-none")
        check_argument("vocab_size", vocab_size, (int, type(None)), "number-or-none")
        check_argument("fields", fields, (list, tuple), "fields")
        for field in fields:
            check_argument("fields", field, (Field, Mapping), "fields")
        source: Tokenizing | None
        if isinstance(model, str | Path):
            # Installed models are known above this package, which serving stacks take alone.
            source = import_module("pura.api").installed_model(model)
        else:
            source = model
        if source is not None and not hasattr(source, "tokenizer_fingerprint"):
            raise argument_error("model", source, "model")
        if source is not None:
            settings |= {
                "vocab_size": source.vocab_size,
                "tokenizer": source.tokenizer_fingerprint,
                "model": source.fingerprint,
            }
        elif vocab_size is not None:
            settings["vocab_size"] = vocab_size
        else:
            raise ProfileError("profile.no-tokenizer", code="tokenizer-unclear")
        if code == "spc" and blocks is None:
            blocks = default_blocks(bits)
        entries = [one.to_dict() if isinstance(one, Field) else dict(one) for one in fields]
        layout = parse_layout(entries, bits) if entries else ()
        settings.setdefault("payload_use", RECIPIENT if layout else ANSWER)
        return cls(payload_bits=bits, code=code, blocks=blocks, fields=layout, **settings)

    @property
    def coding(self) -> str:
        """The code; of a mark by others, which has none, the scheme."""
        return self.code if self.foreign is None else self.scheme

    @property
    def recipient_in_payload(self) -> bool:
        """Whether payloads themselves name recipients, as stated or as the fields suggest.

        Answers for one recipient then share a payload, so that texts can be forged from a
        collection of them. A mark by others has no payload.
        """
        return self.payload_use == RECIPIENT or (self.payload_use is None and bool(self.fields))

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
    def load(cls, path: str | Path) -> Profile:
        """Read a profile file; see :meth:`load_noted`.

        Examples:
            As a program says it::

                profile = Profile.load("house.json")
        """
        check_argument("path", path, (str, Path), "file")
        return cls.load_noted(Path(path))[0]

    @classmethod
    def load_noted(cls, path: Path) -> tuple[Profile, tuple[str, ...]]:
        """Read a profile file, and tell what was done to read it.

        Returns:
            The profile, and keys of :data:`~pura.scheme.profile.NOTES`; none for a file
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
        """16 hex digits over everything that marks or reads: not names, notes, use and limits."""
        data = self.to_dict()
        for name in ("name", "note", "key", "key_epochs", "model", "payload_use"):
            data.pop(name, None)
        if self.limited:  # what a verifier expects of a payload changes no mark
            data["fields"] = [replace(field, limits=()).to_dict() for field in self.fields]
        return sha256(former(data, escaped=False))[:16]

    def __repr__(self) -> str:
        """Return one line; the whole is :meth:`to_dict`."""
        name = f" {self.name!r}" if self.name else ""
        return f"<Profile{name} {self.fingerprint}: {self.payload_bits} bits, {self.coding}>"

    def save(self, path: str | Path) -> None:
        """Write the profile to a file, in one step; a file that is there is replaced.

        Args:
            path: Where to.

        Raises:
            ProfileError: The file cannot be written.

        Examples:
            As a program says it::

                profile.save("house.json")
        """
        check_argument("path", path, (str, Path), "file")
        with os_error_as(ProfileError, "file.write", name=Path(path).name):
            write_atomic(Path(path), self.to_json().encode())

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


_PATIENCE: Final = 10.0
_NAME: Final = re.compile(r"[^\W_][\w .()+-]{0,79}")


class ProfileFolder:
    """The profiles of one folder.

    Args:
        folder: Usually ``user_paths().profiles``; made when the first one is stored.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)

    def names(self) -> tuple[str, ...]:
        """Return the names of all files, sound or not."""
        found = self.folder.glob("*.json") if self.folder.is_dir() else ()
        return tuple(sorted(path.stem for path in found if not path.name.startswith(".")))

    def get(self, name: str) -> Profile:
        """Return a stored profile.

        Raises:
            ProfileError: There is none of that name, or it is damaged.
        """
        return Profile.load(self._there(name))

    def save(self, name: str, profile: Profile, *, replace: bool = False) -> str:
        """Store a profile; returns the name that its file got.

        Args:
            name: For people; what cannot stand in a file's name becomes a dash.
            profile: The profile.
            replace: Whether one of that name may be replaced.

        Raises:
            ProfileError: The name is taken or empty, or the folder cannot be written.
        """
        stem = clean_name(name)
        path = self.folder / f"{stem}.json"
        with os_error_as(ProfileError, "file.write", name=path.name):
            # Between the look and the writing no other program may store one of that name.
            lock = file_lock(self.folder / ".lock", _PATIENCE)
            lock.acquire()
        try:
            if path.exists() and not replace:
                raise ProfileError("file.there", name=stem, code="file-exists")
            _write(path, profile)
        finally:
            lock.release()
        _log.info("a profile was stored: fingerprint %s", profile.fingerprint)
        return stem

    def remove(self, name: str) -> None:
        """Delete a stored profile.

        Raises:
            ProfileError: There is none of that name, or it cannot be deleted.
        """
        path = self._there(name)
        try:
            path.unlink()
        except OSError:
            raise ProfileError("file.delete", name=name) from None
        _log.info("a profile was removed")

    def take_in(self, path: Path, name: str | None = None) -> tuple[str, tuple[str, ...]]:
        """Import a profile file in any version that can be read.

        Returns:
            Its name here, and what was done to read it, as :meth:`Profile.load_noted` tells.

        Raises:
            ProfileError: Not a profile, or the name is taken.
        """
        profile, notes = Profile.load_noted(path)
        return self.save(name or profile.name or path.stem, profile), notes

    def hand_out(self, name: str, path: Path) -> None:
        """Export a profile to a file, in the present version.

        Raises:
            ProfileError: There is none of that name, it is damaged, or the file cannot be written.
        """
        _write(path, self.get(name))

    def _there(self, name: str) -> Path:
        path = self.folder / f"{name}.json"
        if not _NAME.fullmatch(name) or not path.is_file():
            raise ProfileError("command.profile", name=name, code="profile-not-found")
        return path


def clean_name(name: str) -> str:
    """Return a name that can be a file's.

    Raises:
        ProfileError: Nothing is left of it.
    """
    stem = re.sub(r"[^\w .()+-]+", "-", name.strip())[:80].strip(" .-_")
    if not _NAME.fullmatch(stem):
        raise ProfileError("name.none")
    return stem


def refuse_path(name: str | None) -> None:
    """Refuse a path that somebody typed for a name, rather than make another name of it.

    Raises:
        ProfileError: It holds a slash.
    """
    if name is not None and ("/" in name or "\\" in name):
        raise ProfileError("name.path", name=name)


def _write(path: Path, profile: Profile) -> None:
    with os_error_as(ProfileError, "file.write", name=path.name):
        write_atomic(path, profile.to_json().encode())


def encode(payload: Payload, profile: Profile) -> npt.NDArray[np.uint8]:
    """Return the codeword ``c`` of a payload.

    Args:
        payload: ``L_m`` bits.
        profile: Says which code and how many blocks.

    Returns:
        uint8 [n].

    Raises:
        PayloadError: The payload's length is not the profile's.
    """
    if len(payload) != profile.payload_bits:
        raise PayloadError("payload.bits", count=len(payload), payload_bits=profile.payload_bits)
    return encode_rows(payload.array, profile)


def encode_rows(bits: npt.NDArray[np.uint8], profile: Profile) -> npt.NDArray[np.uint8]:
    """Return the codewords of many payloads at once.

    Args:
        bits: uint8 [..., L_m], zeros and ones.
        profile: Says which code and how many blocks.

    Returns:
        uint8 [..., n].
    """
    if profile.code == "tbcc":
        return encode_tbcc(bits)
    return encode_spc(bits, profile.block_count)


def spc_data_positions(profile: Profile) -> npt.NDArray[np.int64]:
    """Return the codeword positions that hold data, in payload order; int64 [L_m]."""
    grid = np.arange(profile.codeword_length, dtype=np.int64).reshape(profile.block_count, -1)
    return grid[:, :-1].ravel()


def parity_mask(profile: Profile) -> npt.NDArray[np.bool_]:
    """Return which codeword positions are parity bits; bool [n], all False for ``tbcc``."""
    mask = np.zeros(profile.codeword_length, dtype=bool)
    if profile.code == "spc":
        mask.reshape(profile.block_count, -1)[:, -1] = True
    return mask
