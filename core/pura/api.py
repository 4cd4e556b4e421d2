"""What ``import pura`` offers to programs; stable between versions.

Everything here goes the way of the command: the user's folders, the stored policy, the twelve steps
of an audit. Nothing of it reaches for the network.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pura.base.errors import InputError, KeyStoreError, ProfileError, PuraError, SigningError
from pura.base.paths import Paths, user_paths
from pura.detect.options import AuditText
from pura.documents import Document, ReadOptions, endings, from_text, read_file
from pura.keys import KeyRef, Secret
from pura.model import libraries
from pura.record.audit import Audit
from pura.scheme import Payload, Profile, SecretKey, pack, parse_payload
from pura.usecases.audits import Prepared, Setup, prepared, stored_setup
from pura.usecases.choices import Choices, refuse_other_rules, together, trusted
from pura.usecases.environment import Environment
from pura.usecases.keys import marking_key, open_identity
from pura.usecases.profiles import find_profile

if TYPE_CHECKING:
    from pura.detect.verdict.policy import Policy
    from pura.embed.generate import Generated
    from pura.model.load import LanguageModel
    from pura.provenance.writing import SignedText

libraries.prepare()  # before torch is imported: nothing of it goes to the network

Text = str | Path
"""A text, or as a ``Path`` a file of any format that the command reads.

A string is always the text itself. One that is the name of a file is refused: whoever passes it
means the file.
"""
_LONGEST_NAME: Final = 4096  # of a file
Keys = SecretKey | str | Sequence[SecretKey | str]
"""A key, the name of a stored one, or several of them."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """What became of one of many texts; either ``audit`` or ``error`` is set.

    Attributes:
        id: The caller's own.
        audit: The record.
        error: Why there is none.
    """

    id: object
    audit: Audit | None = None
    error: PuraError | None = None

    def to_row(self) -> dict[str, Any]:
        """Return one flat row, e.g. of a data frame; an error is a row as well."""
        if self.audit is not None:
            return {"id": self.id, **self.audit.to_row(), "error": None, "message": None}
        assert self.error is not None
        return {"id": self.id, "error": self.error.code, "message": str(self.error)}


def load(
    model: str | Path | None = None, *, device: str = "auto", dtype: str = "float32"
) -> LanguageModel:
    """Load a model, to be used for many texts.

    Args:
        model: Name of an installed one, a local folder or GGUF file; None takes the only one that
            is installed.
        device: ``auto``, ``cpu``, ``cuda`` or ``mps``.
        dtype: ``float32``; ``bfloat16`` or ``float16`` on a GPU.

    Raises:
        PuraError: There is none, several, or it is unsafe or damaged; the device is not there.
    """
    environment = Environment(paths=user_paths(), device=device, dtype=dtype)
    return environment.model(None if model is None else str(model))


def verify(
    text: Text,
    *,
    setup: str | None = None,
    key: Keys = (),
    profile: Profile | Text | None = None,
    model: LanguageModel | Text | None = None,
    name: str = "pasted text",
    prompt: str | Sequence[str] | None = None,
    decoder: Literal["exact", "paper"] = "exact",
    epochs: str = Choices.epochs,
    also: Sequence[Profile | Text] = (),
    weigh: bool = Choices.weigh,
    policy: Policy | Path | None = None,
    register: bool = False,
    ids: Sequence[int] | None = None,
    trust: Path | None = None,
    leave_out: Sequence[str] = (),
    questions: Path | bool = False,
) -> Audit:
    """Audit one text: does it carry a mark of these keys, and which payload?

    Args:
        text: The text; a :class:`~pathlib.Path` is a file that is read. A string that is the name
            of a file is refused.
        setup: Name of a stored set-up, instead of key, profile and model; those that are passed
            as well replace its parts.
        key: A key, the name of a stored one, or several; the evidence is the mean over them. None
            for a mark by others takes the key that its profile is sealed under.
        profile: A profile, or its file or stored name.
        model: A loaded model; its name or path; None takes the one that the profile names, else
            the only one that is installed. It stays loaded for the next call.
        name: How the record calls a text that is no file.
        prompt: The prompt, if it is known; or several candidates, over which the mean is taken.
        decoder: ``exact``, or ``paper`` (the published method).
        epochs: ``FROM..TO``: try the keys of these days, weeks or months, derived from each key;
            empty does what the profile says, ``none`` takes the keys as they are.
        also: Profiles of marks by others that are tried as well; the evidence is the mean.
        weigh: Let the model read the text for marks by others too, which sharpens Gumbel-max.
        policy: A policy, or its file, instead of the stored one.
        register: Ask the register of issued payloads.
        ids: The text's token ids, where the generator saved them; read beside the text.
        trust: File with the certificates (PEM) whose signed manifests are trusted, instead of the
            stored ones.
        leave_out: Leave ``quotations``, lists of ``references``, or both out of the examined text,
            besides what policy and set-up say.
        questions: Also read the text after the stored questions that it may answer: those of the
            user's question store, or of another file.

    Raises:
        PuraError: The text cannot be read or audited; key, profile or model are not there.
    """
    options = _choices(decoder, epochs, weigh, policy, register, trust, leave_out, questions)
    with _prepared(setup, key, profile, model, also, options) as ready:
        document = _document(text, name, options.trust or "")
        saved = None if ids is None else tuple(ids)
        found = ready.audit(AuditText(document=document, prompts=_prompts(prompt), ids=saved))
    if found.error is not None:
        raise found.error
    return found.audit


def verify_many(
    texts: Iterable[Text] | Iterable[tuple[object, Text]] | Mapping[Any, Text],
    *,
    setup: str | None = None,
    key: Keys = (),
    profile: Profile | Text | None = None,
    model: LanguageModel | Text | None = None,
    decoder: Literal["exact", "paper"] = "exact",
    epochs: str = Choices.epochs,
    also: Sequence[Profile | Text] = (),
    weigh: bool = Choices.weigh,
    policy: Policy | Path | None = None,
    register: bool = False,
    trust: Path | None = None,
    leave_out: Sequence[str] = (),
    questions: Path | bool = False,
) -> Iterator[Result]:
    """Audit texts as they are asked for, some of them side by side; none is held longer.

    Args:
        texts: Texts or files; or pairs of an identifier of your own and such a text; or a mapping
            of them. Without identifiers they are counted from 0.
        setup: As for :func:`verify`, and so are the others.
        key: See there.
        profile: See there.
        model: See there.
        decoder: See there.
        epochs: See there.
        also: See there.
        weigh: See there.
        policy: See there.
        register: See there.
        trust: See there.
        leave_out: See there.
        questions: See there.

    Yields:
        One result a text; one that cannot be audited is a result with an error.

    Raises:
        PuraError: Key, profile or model are not there, before the first text.
    """
    pairs = texts.items() if isinstance(texts, Mapping) else texts

    def items() -> Iterator[tuple[object, AuditText | PuraError]]:
        for number, one in enumerate(pairs):
            own, text = one if isinstance(one, tuple) else (number, one)
            yield own, ready.contained(partial(_asked, text, str(own), options.trust or ""))

    options = _choices(decoder, epochs, weigh, policy, register, trust, leave_out, questions)
    with _prepared(setup, key, profile, model, also, options) as ready:
        for own, found in ready.stream(items()):
            error = found if isinstance(found, PuraError) else found.error
            audit = None if isinstance(found, PuraError) or error is not None else found.audit
            yield Result(id=own, audit=audit, error=error)


def mark(
    prompt: str,
    *,
    payload: Payload | str | Mapping[str, object],
    key: SecretKey | str,
    profile: Profile | Text,
    model: LanguageModel | Text | None = None,
    tokens: int = 200,
    seed: int | None = None,
) -> Generated:
    """Write a marked text with a local model.

    Args:
        prompt: What the text goes on from.
        payload: Bits as 0 and 1, ``0x…``, or a value for every field of the profile.
        key: A key, or the name of a stored one; where the profile says that keys are those of a
            day, a week or a month, the one that they come from.
        profile: As for :func:`verify`.
        model: As for :func:`verify`.
        tokens: Length of the text.
        seed: Of the ordinary randomness; None: fresh.

    Raises:
        PuraError: Payload and profile do not fit; key, profile or model are not there.
    """
    from pura.embed import generate

    shared = _profile(profile)
    at, (ref, *_) = _keys(key)
    with at.opened_keys([marking_key(at, ref, shared)]) as [(secret, _)]:
        return generate(
            _model(model, shared),
            prompt,
            _payload(payload, shared),
            secret,
            shared,
            tokens=tokens,
            seed=seed,
            ignore_eos=True,
        )


def sign_manifest(
    text: Text,
    *,
    payload: Payload | str | Mapping[str, object],
    profile: Profile | Text,
    soft_binding: str,
    certificate: Path,
    private_key: Path | None = None,
    passphrase: str | None = None,
    embed: str | None = None,
    timestamp: str | None = None,
) -> SignedText:
    """Sign a manifest (C2PA) that names the same issue as the mark of a text.

    Args:
        text: A text or a file of one, in UTF-8.
        payload: What its mark carries; as for :func:`mark`.
        profile: As for :func:`verify`.
        soft_binding: The mark's name in C2PA's list of algorithms, like ``org.example.pura.1``.
        certificate: PKCS#12; with ``private_key`` the certificates, PEM.
        private_key: The certificate's key, PEM.
        passphrase: Of the certificate or its key.
        embed: ``a8`` for variation selectors at the end, ``a9`` for a comment of Markdown, ``none``
            for a manifest beside the text; None: ``a9`` for a file of Markdown, else ``a8``.
        timestamp: Address of a time-stamp authority (RFC 3161); this uses the network.

    Raises:
        PuraError: The text has a manifest, is too long or not UTF-8; payload and profile do not
            fit; the certificate is not fit for manifests; nobody gave a time stamp.
    """
    from pura.provenance import writing
    from pura.usecases.manifests import read_signable

    shared = _profile(profile)
    secret = None if passphrase is None else Secret(bytearray(passphrase.encode()))
    return writing.sign_manifest(
        read_signable(text) if isinstance(text, Path) else text,
        open_identity(certificate, secret, SigningError, private_key),
        payload=_payload(payload, shared).text,
        profile=shared.fingerprint,
        soft_binding=soft_binding,
        form=embed or writing.form_of(text.name if isinstance(text, Path) else ""),
        timestamp=timestamp,
    )


def _choices(
    decoder: str,
    epochs: str,
    weigh: bool,
    policy: Policy | Path | None,
    register: bool,
    trust: Path | None,
    leave_out: Sequence[str],
    questions: Path | bool,
) -> Choices:
    refuse_other_rules(leave_out)
    return Choices(
        decoder=decoder,
        epochs=epochs,
        weigh=weigh,
        policy=policy,
        ask_register=register,
        trust=trusted(user_paths(), trust),
        leave_out=tuple(leave_out),
        questions=questions,
    )


def _prepared(
    setup: str | None,
    key: Keys,
    profile: Profile | Text | None,
    model: LanguageModel | Text | None,
    also: Sequence[Profile | Text],
    options: Choices,
) -> AbstractContextManager[Prepared]:
    """Lend what texts are audited with: a stored set-up, or parts that are named one by one."""
    at, refs = _keys(key)
    shared = None if profile is None else _profile(profile)
    if setup is not None:
        used = stored_setup(at, setup, profile=shared, keys=refs, other_model=model is not None)
    elif shared is not None:
        used = Setup(keys=tuple(refs), profile=shared)
    else:
        raise ProfileError("face.setup", code="usage")
    if isinstance(model, str | Path):
        used = replace(used, model=str(model))
    elif model is not None:
        at = replace(at, lent_model=model)
    further = tuple(_profile(one) for one in also)
    values = {one.name: getattr(options, one.name) for one in fields(Choices)}
    values["leave_out"] = together(used.leave_out, options.leave_out)
    values["questions"] = options.questions or used.questions
    return prepared(at, replace(used, also=further, **values))


def _keys(key: Keys) -> tuple[Environment, list[KeyRef]]:
    """Name keys, and the environment that has them; the caller's own stay the caller's."""
    asked: list[Any] = list(key) if isinstance(key, list | tuple | set) else [key]
    if not all(isinstance(one, SecretKey | str) for one in asked):
        raise KeyStoreError("face.key", code="key-type")
    lent = {one.fingerprint: one for one in asked if isinstance(one, SecretKey)}
    at = replace(_environment(user_paths()), lent_keys=lent)
    named = [at.stored_key(one) for one in asked if isinstance(one, str)]
    return at, [*(KeyRef(fingerprint=one) for one in lent), *named]


def _asked(text: Text, name: str, trust: str) -> AuditText:
    return AuditText(document=_document(text, name, trust))


def _document(text: Text, name: str, trust: str) -> Document:
    if isinstance(text, Path):
        return read_file(text, ReadOptions(trust=trust))
    if not isinstance(text, str):
        raise InputError("batch.not-text", code="input-field")
    if _is_file_name(text):
        raise InputError("face.file-name", code="usage")
    return from_text(text, name=name)


def _is_file_name(text: str) -> bool:
    """Whether a text is one word with the ending of a file, or the name of a file that is there."""
    if not text or len(text) > _LONGEST_NAME or "\n" in text:
        return False
    if len(text.split()) == 1 and text.lower().endswith(endings()):
        return True
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _prompts(prompt: str | Sequence[str] | None) -> tuple[str, ...]:
    if prompt is None:
        return ()
    return tuple(dict.fromkeys((prompt,) if isinstance(prompt, str) else prompt))


def _profile(profile: Profile | Text) -> Profile:
    if isinstance(profile, Profile):
        return profile
    return Profile.load(find_profile(_environment(user_paths()), str(profile)))


def _model(model: LanguageModel | Text | None, profile: Profile) -> LanguageModel:
    if model is None or isinstance(model, str | Path):
        name = None if model is None else str(model)
        return _environment(user_paths()).model(name, profile=profile)
    return model


def _payload(payload: Payload | str | Mapping[str, object], profile: Profile) -> Payload:
    if isinstance(payload, Payload):
        return payload
    if isinstance(payload, str):
        return parse_payload(payload, profile.payload_bits)
    return pack(profile.fields, payload)


@cache
def _environment(paths: Paths) -> Environment:
    return Environment(paths=paths)
