"""Comparison of a serving engine with a model: can texts of the engine be verified with the model?

A server with OpenAI's interface returns the likeliest next tokens of a prompt with their
probabilities (``logprobs``). They are compared with those of the verifying model, before anyone
relies on a mark. All tokens that the server does not name count as one: the divergence of such
coarser distributions is never larger than that of the complete ones.
"""

from __future__ import annotations

import errno
import http.client
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import urlsplit

import numpy as np

from pura.base.catalogue import catalogue
from pura.base.errors import InputError
from pura.base.progress import Checkpoint, never_cancelled, not_counted
from pura.measure.fitness import Estimate, mean, share
from pura.model.evidence import next_token
from pura.model.tokenise import decode, tokenise
from pura.scheme import F64

if TYPE_CHECKING:
    from pura.model.load import LanguageModel

Word = Literal["good", "usable", "poor"]
GOOD: Final = 0.5
USABLE: Final = 2.0
RULE: Final = (
    "good: a mean divergence of at most 0.5 bits; usable: at most 2; poor: more. "
    "Measured with noise on one small model's weights, not proved."
)
TOP: Final = (20, 5)  # requested tokens; a server that refuses 20 is asked for 5
_MAX_ANSWER: Final = 1 << 20
_PATIENCE_S: Final = 120.0  # timeout; the first request may load a model
_MIN_REST: Final = 1e-9  # smallest probability of all unnamed tokens, against rounding
_MAX_SUM: Final = 1.01  # largest sum of rounded probabilities
_PASSAGES: Final = """\
The city council met on Tuesday evening to discuss the future of the old harbour, where two
of the piers are no longer safe and nobody wants to pay for

Dear customers, this autumn we are changing how your invoices are sent, and from the first of
October you will find each of them in your account on

My grandmother used to say that bread needs three things, good flour, a warm kitchen and
patience, and that most people only ever bring two of them to

In the second half of the season the team won nine of its eleven matches, which surprised
everybody who had seen how it played in the rain against

The experiment was repeated because the first samples had been stored at the wrong
temperature; the results differ from those of last year in two respects, namely

A history of the lighthouse begins with the families who lived on the rock for almost two
centuries, mended its lamp at night, and wrote down what they saw of

Before you plant the seeds, make sure that the ground is no longer frozen, take out the
larger stones, and let the soil rest for some days under

Travellers who come to the valley in winter should know that the road is closed after heavy
snow, that the last bus leaves at four, and that
"""
_CUTS: Final = (4, 9, 14, 19, 24)  # numbers of words of each passage that form a prompt
PROMPTS: Final = tuple(
    " ".join(passage.split()[:count]) for passage in _PASSAGES.split("\n\n") for count in _CUTS
)


@dataclass(frozen=True, kw_only=True)
class EngineFitness:
    """Distance between the next tokens of a server and those of a model.

    Attributes:
        engine: Address of the server.
        engine_model: Name of the server's model; None if the server does not tell it.
        model: Name of the verifying model.
        model_fingerprint: Fingerprint of its weights.
        dtype: Number format in which it computed.
        prompts: Number of prompts.
        top: Mean number of tokens compared after each prompt.
        covered: Mean probability of these tokens on the server.
        prefix: Prefix of the prompts, as in a profile: ``none`` or ``bos``; the better match.
        kl_bits: Mean divergence of the server's tokens from the model's, in bits.
        variation: Mean total variation distance between them.
        same_first: Share of prompts for which both have the same likeliest token.
        word: ``good``, ``usable`` or ``poor``.
        rule: Rule by which the word follows from the numbers.
    """

    engine: str
    engine_model: str | None
    model: str
    model_fingerprint: str
    dtype: str
    prompts: int
    top: float
    covered: float
    prefix: Literal["none", "bos"]
    kl_bits: Estimate
    variation: Estimate
    same_first: Estimate
    word: Word
    rule: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


def compare_engine(
    model: LanguageModel,
    url: str,
    *,
    progress: Callable[[int, int], None] = not_counted,
    checkpoint: Checkpoint = never_cancelled,
) -> EngineFitness:
    """Request the next tokens of :data:`PROMPTS` from a running server, and compare them.

    Args:
        model: The verifying model.
        url: Address of the server, with or without ``/v1``.
        progress: Called with the prompts done and all prompts.
        checkpoint: Called before each; may raise :class:`~pura.base.errors.Cancelled`.

    Raises:
        InputError: The address is invalid, no server answers, or it returns no probabilities.
    """
    server = _Server(url)
    engine_model = server.model()
    tops = []
    for number, prompt in enumerate(PROMPTS):
        checkpoint()
        progress(number, len(PROMPTS))
        tops.append(server.top(prompt, engine_model))
    progress(len(PROMPTS), len(PROMPTS))
    token_table = _tokens_by_text(model)
    openings: dict[Literal["none", "bos"], tuple[int, ...]] = {"none": ()}
    if model.bos_id is not None:
        openings["bos"] = (model.bos_id,)
    compared = {
        prefix: _distances(model, opening, tops, token_table, checkpoint)
        for prefix, opening in openings.items()
    }
    prefix = min(compared, key=lambda name: float(np.mean(compared[name][0])))
    divergence, variation, same = compared[prefix]
    kl_bits = mean(divergence, 0.0)
    return EngineFitness(
        engine=url,
        engine_model=engine_model,
        model=model.name,
        model_fingerprint=model.fingerprint,
        dtype=model.device.dtype,
        prompts=len(PROMPTS),
        top=float(np.mean([len(top) for top in tops])),
        covered=float(np.mean([min(1.0, sum(top.values())) for top in tops])),
        prefix=prefix,
        kl_bits=kl_bits,
        variation=mean(variation, 0.0, 1.0),
        same_first=share(sum(same), len(same)),
        word="good" if kl_bits.value <= GOOD else "usable" if kl_bits.value <= USABLE else "poor",
        rule=RULE,
    )


def engine_sentence(fitness: EngineFitness, language: str = "en") -> str:
    """Return the result of the comparison as a sentence."""
    values = {"engine": fitness.engine, "model": fitness.model}
    return catalogue("command").fill(f"engine.{fitness.word}", language, values)


Top = Mapping[str, float]
"""Probabilities of the likeliest next tokens, by their text."""


def _tokens_by_text(model: LanguageModel) -> dict[str, list[int]]:
    """Return tokens by their text, without leading blanks, which some servers omit."""
    tokens: dict[str, list[int]] = {}
    for token in range(min(model.vocab_size, model.head.rows)):
        tokens.setdefault(decode(model.tokenizer, [token]).lstrip(" "), []).append(token)
    return tokens


def _distances(
    model: LanguageModel,
    opening: tuple[int, ...],
    tops: Sequence[Top],
    token_table: Mapping[str, Sequence[int]],
    checkpoint: Checkpoint,
) -> tuple[list[float], list[float], list[bool]]:
    """Return for each prompt the divergence in bits, total variation, and equality of the first."""
    divergence, variation, same = [], [], []
    for prompt, top in zip(PROMPTS, tops, strict=True):
        checkpoint()
        ids = np.concatenate([opening, tokenise(model.tokenizer, prompt).ids]).astype(np.int64)
        probabilities = next_token(model, ids)
        server_probabilities: dict[str, float] = {}
        for word, probability in top.items():
            # Part of a character has no name; it counts as unnamed.
            if (bare := word.lstrip(" ")) and "\N{REPLACEMENT CHARACTER}" not in bare:
                server_probabilities[bare] = server_probabilities.get(bare, 0.0) + probability
        p = _with_rest(
            [
                float(probabilities[list(token_table.get(word, ()))].sum())
                for word in server_probabilities
            ]
        )
        q = _with_rest(list(server_probabilities.values()))
        divergence.append(float((q * np.log2(q / p)).sum()))
        variation.append(float(np.abs(q - p).sum() / 2))
        likeliest = decode(model.tokenizer, [int(probabilities.argmax())]).lstrip(" ")
        same.append(likeliest == max(top, key=lambda word: top[word]).lstrip(" "))
    return divergence, variation, same


def _with_rest(probabilities: Sequence[float]) -> F64:
    complete = np.maximum([*probabilities, 1.0 - math.fsum(probabilities)], _MIN_REST)
    return np.asarray(complete / complete.sum())


class _Server:
    """A server with OpenAI's interface.

    Args:
        url: Address of the server.

    Raises:
        InputError: The address is invalid.
    """

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            kind = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
            self._connect = kind[parts.scheme]
            self._host, self._port = parts.hostname or "", parts.port
            if not self._host or parts.username is not None or parts.query or parts.fragment:
                raise ValueError(url)
        except (ValueError, KeyError):
            raise InputError("engine.url", code="usage") from None
        self._url, self._top = url, TOP[0]
        self._path = parts.path.rstrip("/").removesuffix("/v1") + "/v1"

    def model(self) -> str | None:
        """Return the name of the server's first model; None if it does not tell."""
        status, answer = self._ask("GET", "/models")
        try:
            return str(answer["data"][0]["id"]) if status == http.HTTPStatus.OK else None
        except (KeyError, IndexError, TypeError):
            return None

    def top(self, prompt: str, model: str | None) -> Top:
        """Return the likeliest next tokens of a prompt.

        Raises:
            InputError: The server refuses, or its answer has no probabilities.
        """
        question = {"prompt": prompt, "max_tokens": 1, "temperature": 1.0, "logprobs": self._top}
        if model is not None:
            question["model"] = model
        status, answer = self._ask("POST", "/completions", question)
        if status in (http.HTTPStatus.BAD_REQUEST, http.HTTPStatus.UNPROCESSABLE_ENTITY):
            fewer = TOP[-1]
            if self._top > fewer:
                self._top = fewer
                return self.top(prompt, model)
        if status != http.HTTPStatus.OK:
            raise InputError("engine.refused", url=self._url, status=status)
        try:
            return _probabilities(answer["choices"][0].get("logprobs"))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            raise InputError("engine.no-probabilities", url=self._url) from None

    def _ask(self, method: str, path: str, question: Any = None) -> tuple[int, Any]:
        body = None if question is None else json.dumps(question)
        headers = {"Content-Type": "application/json"} if body else {}
        connection = self._connect(self._host, self._port, timeout=_PATIENCE_S)
        try:
            connection.request(method, self._path + path, body, headers)
            response = connection.getresponse()
            response_body = response.read(_MAX_ANSWER)
        except (OSError, http.client.HTTPException) as error:
            silent = errno.ETIMEDOUT if isinstance(error, TimeoutError) else 0
            reason = max(0, getattr(error, "errno", None) or silent)
            raise InputError("engine.silent", url=self._url, why=reason) from None
        finally:
            connection.close()
        try:
            return response.status, json.loads(response_body)
        except (ValueError, RecursionError):
            return response.status, None


def _probabilities(logprobs: Any) -> Top:
    """Read the probabilities of the first token of an answer, in either form of the interface.

    Raises:
        ValueError: There are no valid probabilities.
        KeyError, IndexError, TypeError, AttributeError: The answer has another form.
    """
    if "content" in logprobs:
        listed = [
            (entry["token"], entry["logprob"]) for entry in logprobs["content"][0]["top_logprobs"]
        ]
    else:
        listed = list(logprobs["top_logprobs"][0].items())
    probabilities = {str(token): math.exp(float(value)) for token, value in listed}
    if not probabilities or not 0.0 < math.fsum(probabilities.values()) <= _MAX_SUM:
        raise ValueError("no probabilities")
    return probabilities
