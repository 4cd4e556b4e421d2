"""The kinds of rows that commands write with ``--json``: their fields, and their JSON Schema.

``resources/rows.schema.json`` is written from this table by ``make schemas``.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from pura.base.decoder import schema_of

Fields = dict[str, Any]
"""The type of each field, as :func:`~pura.base.decoder.schema_of` takes it."""


def _texts(names: str) -> Fields:
    """Return fields that hold a text."""
    return dict.fromkeys(names.split(), str)


def _maybe(kind: Any, names: str) -> Fields:
    """Return fields that may hold nothing."""
    return dict.fromkeys(names.split(), (kind, None))


MADE: Final = (
    *(
        "annex",
        "bundle",
        "case",
        "entry",
        "gap-analysis",
        "key",
        "model",
        "policy",
        "power-table",
        "profile",
    ),
    *("register", "report", "setup", "text", "token"),
)
"""Kinds of things that commands make, change and remove."""
_CHECKS: Final = [_texts("name state finding text")]
_INTERVAL: Final = _maybe(float, "value low high")
_BITS: Final = [{"readings?": int, "gamma?": float, "wrong?": bool, "bound?": float}]
_RATES: Final = dict[str, float | None]
_ENDS: Final = dict[str, tuple[float, float]]
_REVIEW: Final = {
    "state": Literal["confirmed", "disputed"],
    **_texts("time by"),
    **_maybe(str, "who recomputed words"),
}
CASE_FINDING: Final = {
    "id": str,
    "verdict": str,
    **_maybe(str, "name sha256"),
    "log10_e": (float, None),
    "payload": (str, None),
    "marks": (int, None),
    "text": Literal["keep", "seal", "leave-out"],
    "run": int,
    "examiner": (str, None),
    "examined": str,
    "auditor": (str, None),
    "saved": str,
    "kept": bool,
    "missing": bool,
    "review": (_REVIEW, None),
}
_STATEMENT: Final = {
    "schema": Literal["pura-statement/1", "pura-statement/2"],
    **_texts("detector version role language id verdict headline strength meaning sha256"),
    **_texts("created policy policy_name record layers"),
    "supports": Literal["mark", "no-mark", ""],
    "marks": ([{"places": [{"start": int, "end": int}], "fields": dict[str, str]}], None),
    "manifests": ([_texts("form state signer signed_at manifest soft_binding")], None),
}

ROWS: Final[dict[str, tuple[str, Fields]]] = {
    "error": (
        "Why an input of pura verify is no finding; without an input: why none can be.",
        {
            "input?": {**_texts("name path"), "part?": str},
            "error": {**_texts("code message"), "hint?": str},
        },
    ),
    "choice": (
        "Which texts of pura verify --fdr are chosen.",
        {"fdr": float, "texts": int, "chosen": [str]},
    ),
    "batch": (
        (
            "The summary of a batch. read_alone: texts of this run that were read one by one, since"
            " reading them together failed; missing: input and row of the first row that is not"
            " there, since a shard's result is missing."
        ),
        {
            "output": str,
            "rows": int,
            "outcomes": dict[str, int],
            "errors": dict[str, int],
            "chosen": (int, None),
            "examined_now": int,
            "read_alone": int,
            "seconds": float,
            "skipped": dict[str, int],
            "missing": (tuple[int, int], None),
        },
    ),
    "made": (
        (
            "What a command made, changed or removed. count: rows, entries or files, where some are"
            " counted; text: what pura generate wrote into no file, or a new token."
        ),
        {
            "what": Literal[MADE],
            "name": str,
            "fingerprint": (str, None),
            "files": [str],
            "count": (int, None),
            "text?": str,
        },
    ),
    "profile": (
        "A stored profile.",
        {**_texts("name fingerprint"), "payload_bits": int, "fields": [str]},
    ),
    "power-table": (
        "A stored power table.",
        {**_texts("name fingerprint date"), "relied_on": bool},
    ),
    "key": (
        "A stored key, without its secret.",
        {
            **_texts("name fingerprint created note master deployment"),
            "role": Literal["single", "master", "derived"],
            "place": Literal["keyring", "files"],
        },
    ),
    "key-store": ("The state of the key store.", _texts("store state files message hint")),
    "key-check": (
        "Whether a stored key can be read.",
        _texts("name fingerprint state message hint"),
    ),
    "model": (
        "An installed model.",
        {
            **_texts("name path source licence fingerprint tokenizer_fingerprint architecture"),
            **_texts("dtype created"),
            **dict.fromkeys(("parameters", "vocab_size", "size_bytes"), int),
            "weights": Literal["safetensors", "gguf"],
            "files": dict[str, str],
            "memory": {
                "fits": (bool, None),
                "need_bytes": int,
                "free_bytes": (int, None),
                "reason": str,
            },
        },
    ),
    "fitness": (
        "How well a model reads the marks of a profile.",
        {
            **_texts("model model_fingerprint profile dtype word rule"),
            "made_here": bool,
            "results": [
                {
                    "tokens": int,
                    "usable": int,
                    "log10_e": float,
                    "matched": bool,
                    "bits_right": float,
                }
            ],
            **dict.fromkeys(("found", "matched", "evidence", "evidence_per_100"), _INTERVAL),
            "bits_right": _INTERVAL,
            "kl_bits": (_INTERVAL, None),
            "source": (str, None),
        },
    ),
    "engine-fitness": (
        "How far the next tokens of a server lie from those of a model.",
        {
            **_texts("engine model model_fingerprint dtype rule"),
            "engine_model": (str, None),
            "prompts": int,
            **dict.fromkeys(("top", "covered"), float),
            "prefix": Literal["none", "bos"],
            **dict.fromkeys(("kl_bits", "variation", "same_first"), _INTERVAL),
            "word": Literal["good", "usable", "poor"],
        },
    ),
    "power": (
        "A power table, power.md.",
        {"level": float, "conditions": dict[str, Any], "entries": [Any]},
    ),
    "issue": (
        "An entry of the register of issued payloads.",
        {
            "entry": int,
            **_texts("payload key epoch profile who when model manifest note remark"),
            "drawn": Literal["random", "counter", "given"],
            "row": str,
        },
    ),
    "manifest": (
        "A signed manifest.",
        {**_texts("manifest payload signer"), "form": Literal["a8", "a9", "none"]},
    ),
    "report-check": (
        "What became of the checks of a report.",
        {
            **_texts("file sha256 headline"),
            "signed": bool,
            "standing": Literal["amiss", "unsigned", "signed", "trusted"],
            "checks": _CHECKS,
        },
    ),
    "case": (
        "A case of the case log.",
        {
            "id": str,
            "name": (str, None),
            **_texts("opened changed"),
            "auditor": (str, None),
            "tags": [str],
            "held": bool,
            "closed": bool,
            "imported": str,
            "failures": int,
            "missing": [{"log": str, "seq": int, "field": str}],
            "notes": [dict[str, Any]],
            "audits": [CASE_FINDING],
            "history?": [dict[str, Any]],
        },
    ),
    "log-check": (
        "One check of the case log; further fields are the values of its text.",
        _texts("check state code text"),
    ),
    "doctor": (
        "One thing that pura doctor looked at.",
        {"grade": Literal["ok", "warning", "fault"], **_texts("check text hint")},
    ),
    "duty": (
        "One duty of whoever marks texts, as pura doctor --duties found it; reported, not advice.",
        {
            "state": Literal["have", "partly", "absent"],
            **_texts("profile duty asked source text hint"),
        },
    ),
    "attack": (
        "A text that was attacked, and how hard it was hit.",
        {
            "text": str,
            "ids": [int],
            "by": (str, None),
            **dict.fromkeys(("characters", "words", "tokens", "similarity"), float),
            **_maybe(float, "perplexity_before perplexity"),
        },
    ),
    "decomposition": (
        "What of the evidence an attack took, and why.",
        {
            "paper": _RATES,
            "exact": _RATES,
            "paper_interval": _ENDS,
            "exact_interval": _ENDS,
            "paper_bits": _BITS,
            "exact_bits": _BITS,
            "outcome": dict[str, Any],
            "token": [int],
            "position": [int],
            "z": [float],
            "synchronised": [bool],
        },
    ),
    "score": (
        "A score of summaries or translations, or a difference of two.",
        {
            "metric": Literal["rouge1", "bleu", "bertscore"],
            **_texts("system by"),
            "against": (str, None),
            "texts": int,
            **dict.fromkeys(("value", "low", "high"), float),
        },
    ),
    "comparison": (
        "Watermarks compared with one model.",
        {"model": str, "cells": [dict[str, Any]], "unmarked": [dict[str, Any]]},
    ),
    "setup": (
        "Keys, profile and model that belong together.",
        {
            **_texts("name profile"),
            "keys": [_texts("name fingerprint")],
            "model": (str, "Name of the model; empty: the one that the profile names."),
            "leave_out": ([str], "What is left out of the examined texts by rule."),
            "questions?": (bool, "Texts are read after stored questions as well."),
            "ready": (bool, "Whether an audit can begin: all parts are here and fit."),
        },
    ),
    "question-store": (
        "What can be said of a question store without its key.",
        {
            "there": (bool, "There is a store; else the numbers are 0."),
            **dict.fromkeys(("questions", "expired"), int),
            "days": (int, None),
            **_maybe(str, "oldest newest"),
            "key": (str, "Fingerprint of its key."),
        },
    ),
    "question-erasure": (
        "How many stored questions were erased, those that had expired among them.",
        {"erased": int},
    ),
    "question-check": (
        "Whether a question store holds what was written.",
        {"questions": int, "sound": bool, "faults": [str]},
    ),
    "token": (
        "A token that a detector is asked with.",
        {
            **_texts("id name role"),
            "per_day": int,
            **_texts("made expires revoked"),
            "grants": (
                [{"profile": str, "bits": int, "first": int, "last": int, **_texts("key epoch")}],
                "Of a publisher: payloads of profiles that it may bind, with their key and epoch.",
            ),
        },
    ),
    "statement-check": (
        "What became of the checks of a detector's statement.",
        {
            **_texts("file headline"),
            "standing": Literal["amiss", "signed", "trusted"],
            "statement": (_STATEMENT, None),
            "checks": _CHECKS,
        },
    ),
}
"""What each kind is, and its fields."""

OPEN: Final = ("power", "log-check")
"""Kinds that hold further fields: those of a table, the values of a text."""


def row_of(value: object, fields: Fields, **own: Any) -> dict[str, Any]:
    """Return an object with these fields: attributes of a value, unless they are given."""
    names = (name for name in fields if not name.endswith("?"))
    return {name: own[name] if name in own else getattr(value, name) for name in names}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of all kinds of rows."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Rows of the command",
        "description": "What the commands write with --json, by the field schema. Findings: "
        "finding.schema.json; whole records: audit.schema.json; rows of a batch: "
        "batch-row.schema.json.",
        "oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in ROWS],
        "$defs": {kind: _row(kind, *row) for kind, row in ROWS.items()},
    }


def _row(kind: str, about: str, fields: Fields) -> dict[str, Any]:
    found = schema_of(fields) | {"description": about}
    found["properties"] = {"schema": {"const": f"pura-{kind}/1"}, **found["properties"]}
    found["required"] = sorted({"schema", *found["required"]})
    found["additionalProperties"] = kind in OPEN
    return found
