"""Attacks by a model, and the local models that carry them out.

The papers used models of 3 to 11 billion weights. Here any local model rewrites, and every result
names it: with a small model the attack is only a *surrogate* of the one in the paper. The requests
are our own wording of those that the papers describe.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from pura.base.errors import ModelError
from pura.embed.generate import generate, opening_ids
from pura.measure.attacks.base import (
    MYTHES,
    Attacked,
    Paraphraser,
    Stepper,
    TextWriter,
    Tools,
    count_of,
    damage,
    read_mythes,
    result,
    split_sentences,
)
from pura.model.tokenise import decode, tokenise, tokenizing
from pura.scheme import F64, I64, Profile

if TYPE_CHECKING:
    from pura.model.load import LanguageModel


WINDOW: Final = 3
"""Sentences that are rewritten together, as in DIPPER."""

_ROLE: Final = (
    "You rewrite texts with care. You keep what a text says: its facts, names, numbers, dates,"
    " quotations and addresses. You never add, drop, shorten, explain or comment."
)
_ASK: Final = (
    "Say the passage below in other words.\n"
    "- Keep every fact and the order of the thoughts.\n"
    "- Keep names, numbers, dates, quotations and technical terms as they are.\n"
    "- Do not take over long phrases word for word, and do not summarise.\n"
    "- Answer with the new passage alone.\n\nPassage:\n{text}"
)
_DIVERSE: Final = (
    "\n\nChange about {lexical} of 100 words, and the order of about {order} of 100 clauses."
)
_FILL: Final = (
    "The second text has gaps, written _. Write it out in full with the sense of the first text;"
    " put other words into the gaps than the obvious ones. Answer with the full text alone.\n\n"
    "First text:\n{reference}\n\nSecond text:\n{masked}"
)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(1 << 31))


def _windows(text: str, rewrite: Callable[[str, str], str], size: int = WINDOW) -> str:
    """Rewrite a few sentences at a time; ``rewrite`` gets the text before them, and them."""
    sentences, _ = split_sentences(text)
    rewritten = ""
    for first in range(0, len(sentences), size):
        part = " ".join(s.strip() for s in sentences[first : first + size])
        new = rewrite(rewritten, part).strip()
        rewritten = f"{rewritten} {new or part}".strip()
    return rewritten


def _token_limit(text: str) -> int:
    return 40 + len(text.split()) * 2


def paraphrase(text: str, rng: np.random.Generator, *, writer: TextWriter) -> str:
    """Rewrite with the request that the paper describes (its box on paraphrasing)."""

    def rewrite(_: str, part: str) -> str:
        return writer(_ROLE, _ASK.format(text=part), seed=_seed(rng), tokens=_token_limit(part))

    return _windows(text, rewrite)


def back_translate(
    text: str, rng: np.random.Generator, *, there: Paraphraser, back: Paraphraser
) -> str:
    """Translate into another language and back, a sentence at a time."""

    def rewrite(_: str, part: str) -> str:
        return back(there(part, seed=_seed(rng)), seed=_seed(rng))

    return _windows(text, rewrite, size=1)


def dipper(
    text: str,
    rng: np.random.Generator,
    *,
    lexical: int,
    order: int,
    model: Paraphraser | None,
    surrogate: TextWriter | None,
) -> str:
    """Paraphrase like DIPPER: three sentences at a time, after the text written so far.

    Args:
        text: The text.
        rng: Seeds of the sampling.
        lexical: Diversity of words, 0 … 100 in steps of 20.
        order: Diversity of order, in the same scale.
        model: DIPPER itself, or None.
        surrogate: A writer to use without DIPPER.

    Raises:
        ValueError: The model answered with its own control codes, or no model is available.
    """

    def rewrite(before: str, part: str) -> str:
        if model is not None:
            codes = f"lexical = {100 - lexical}, order = {100 - order}"
            answer = model(f"{codes} {before} <sent> {part} </sent>", seed=_seed(rng))
            if "<sent>" in answer:
                raise ValueError("the paraphraser repeats its control codes")
            return answer
        if surrogate is None:
            raise ValueError("no model paraphrases")
        request_text = _ASK.format(text=part) + _DIVERSE.format(lexical=lexical, order=order)
        return surrogate(_ROLE, request_text, seed=_seed(rng), tokens=_token_limit(part))

    return _windows(text, rewrite)


def sira(
    text: str,
    rng: np.random.Generator,
    *,
    decode: Callable[[I64], str],
    tokenise: Callable[[str], I64],
    propose: Callable[[I64], npt.NDArray[np.floating]],
    writer: TextWriter,
    share: float,
) -> str:
    """Rewrite where the text is surprising (SIRA): gaps there, filled after a paraphrase.

    Args:
        text: The text.
        rng: Seeds of the sampling.
        decode: Converts token ids to text.
        tokenise: Converts text to token ids.
        propose: A model that measures how surprising a token is.
        writer: Paraphrases, and fills the gaps.
        share: Share of the tokens that become gaps, those with the highest self-information.
    """

    def rewrite(_: str, part: str) -> str:
        reference = writer(
            _ROLE, _ASK.format(text=part), seed=_seed(rng), tokens=_token_limit(part)
        )
        ids = tokenise(part)
        logits = np.asarray(propose(ids), dtype=np.float64)
        top = logits.max(axis=1)
        log_z = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
        surprise = log_z - logits[np.arange(ids.size), ids]
        surprise[:1] = -np.inf  # the first token has no prediction
        gap = np.zeros(ids.size, dtype=bool)
        gap[np.argsort(-surprise, kind="stable")[: round(share * ids.size)]] = True
        masked = "".join(" _" if g else decode(ids[i : i + 1]) for i, g in enumerate(gap.tolist()))
        request_text = _FILL.format(reference=reference, masked=masked)
        return writer(_ROLE, request_text, seed=_seed(rng), tokens=_token_limit(part))

    return _windows(text, rewrite)


def best_of(
    text: str, rng: np.random.Generator, *, tools: Tools, writer: TextWriter, tries: int
) -> str:
    """Rewrite several times and keep the best by the reward of RLCracker, untrained."""

    def rewrite(_: str, part: str) -> str:
        role, request_text = request(part)
        candidates = [
            writer(role, request_text, seed=_seed(rng), tokens=_token_limit(part))
            for _ in range(tries)
        ]
        candidates = [s for s in candidates if s.strip()] or [part]
        return candidates[int(np.argmax(rewards(part, candidates, tools=tools, writer=writer)))]

    return _windows(text, rewrite)


def request(text: str) -> tuple[str, str]:
    """Return the request to rewrite a text: system prompt and user message."""
    return _ROLE, _ASK.format(text=text)


def rewards(text: str, rewritings: Sequence[str], *, tools: Tools, writer: TextWriter) -> F64:
    """Return the rewards of RLCracker of some rewritings of one text.

    The reward of a rewriting is ``α · sense + 0.9 · distance + 0.1 · fluency``: sense is a
    sigmoid of the similarity (:class:`~pura.measure.attacks.base.Damage`, where the authors have a
    trained one) around 0.85, ``α = max(1, 15 (1 - mean similarity))``; distance is how much less
    likely the rewriting is with the marked text at hand than without, by the k3 estimate of a
    divergence; fluency is minus the log perplexity.
    """
    assert tools.tokenise is not None
    base = (text, tools.tokenise(text))
    damages = [damage(base, (s, tools.tokenise(s)), tools) for s in rewritings]
    likeness = np.array([d.similarity for d in damages])
    steep = np.log(0.975 / 0.025) / 0.15
    sense = 2 / (1 + np.exp(-steep * (likeness - 0.85))) - 1
    fluency = np.array([-np.log(d.perplexity or 1.0) for d in damages])
    distance = np.array([_k3(writer, request(text)[1], s) for s in rewritings])
    alpha = max(1.0, 15 * (1 - float(likeness.mean())))
    return np.asarray(alpha * sense + 0.9 * distance + 0.1 * fluency)


def _k3(writer: TextWriter, request_text: str, answer: str) -> float:
    """Return ``mean(e^d - d - 1)``, ``d`` how much likelier each token is with the text at hand.

    A rewriting that copies has large ``d``; its divergence counts against it.
    """
    with_text = writer.log_likelihoods(_ROLE, request_text, answer)
    without = writer.log_likelihoods(_ROLE, "", answer)
    d = np.clip(without - with_text, -20, 20)
    return -float(np.mean(np.exp(d) - d - 1)) if d.size else 0.0


def smooth(
    texts: Sequence[I64], rngs: Sequence[np.random.Generator], *, rate: float, step: Stepper
) -> list[Attacked]:
    """Redraw the least certain tokens from another model, left to right.

    The attack of Chang et al. works while the text is written, with the marked model's own
    distributions. This is what can be done afterwards ("smoothing, post hoc"): the other model
    reads the attacked text so far; where its distribution has a small 2-norm, it draws the token.

    Args:
        texts: int64 [L] each; the other model reads them side by side.
        rngs: Randomness of each.
        rate: Share of the tokens that are redrawn: those below this quantile of the norms on the
            original text.
        step: The other model, in its initial state.
    """
    out = [ids.copy() for ids in texts]
    origins = [np.arange(ids.size) for ids in texts]
    norms: list[list[float]] = [[] for _ in texts]
    for t in range(1, max((ids.size for ids in texts), default=0)):
        last = np.array([ids[min(t, ids.size) - 1] if ids.size else 0 for ids in out])
        logits = np.asarray(step(last), dtype=np.float64)
        for row, (ids, rng) in enumerate(zip(out, rngs, strict=True)):
            if t >= ids.size:
                continue
            p = np.exp(logits[row] - logits[row].max())
            p /= p.sum()
            # The first token has no prediction: its distribution is uniform.
            text_norms = norms[row] or [float(p.size**-0.5)]
            text_norms.append(float(np.sqrt((p * p).sum())))
            norms[row] = text_norms
            # The threshold follows the norms so far, so one pass is enough.
            if text_norms[-1] <= np.quantile(text_norms, rate):
                ids[t] = rng.choice(p.size, p=p)
                origins[row][t] = t if ids[t] == texts[row][t] else -1
    return [result(*row) for row in zip(texts, out, origins, strict=True)]


GAP: Final = 3
"""Tokens of a gap, which are filled together."""
AHEAD: Final = 4
"""Tokens after a gap by which its fillings are compared."""


def infill(
    texts: Sequence[I64],
    rngs: Sequence[np.random.Generator],
    *,
    rate: float,
    tries: int,
    step: Stepper,
) -> list[Attacked]:
    """Cut gaps into texts and let another model fill them, with a view to both sides.

    Left to right, a model fills each gap of three tokens several times from the text before it. The
    filling that makes the next four tokens likeliest is kept; the original tokens are excluded.

    Args:
        texts: int64 [L] each; the other model reads them side by side.
        rngs: Randomness of each.
        rate: Share of the tokens that lie in gaps, at most 3 of 7.
        tries: Fillings of each gap.
        step: The other model, in its initial state.

    Raises:
        ValueError: The gaps do not fit, or ``tries`` is below 1.
    """
    if tries < 1:
        raise ValueError("a gap is filled at least once")
    starts = [_gaps(ids.size, rate, rng) for ids, rng in zip(texts, rngs, strict=True)]
    rows = [np.tile(ids, (tries, 1)) for ids in texts]
    worth = [np.zeros(tries) for _ in texts]
    for t in range(1, max((ids.size for ids in texts), default=0)):
        last = [r[:, min(t, r.shape[1]) - 1] if r.size else np.zeros(tries, np.int64) for r in rows]
        logits = np.asarray(step(np.concatenate(last))).reshape(len(texts), tries, -1)
        goes_on = np.arange(len(texts) * tries).reshape(len(texts), tries)
        reordered = False
        for number, (ids, rng) in enumerate(zip(texts, rngs, strict=True)):
            offsets = t - starts[number]
            offsets = offsets[(offsets >= 0) & (offsets < GAP + AHEAD)]
            if t >= ids.size or not offsets.size:
                continue
            row, offset = rows[number], int(offsets[0])
            log_p = logits[number] - logits[number].max(axis=1, keepdims=True)
            log_p = log_p - np.log(np.exp(log_p).sum(axis=1, dtype=np.float64, keepdims=True))
            if offset < GAP:
                heap = np.exp(log_p, dtype=np.float64).cumsum(axis=1)
                drawn = rng.random(tries) * heap[:, -1]
                row[:, t] = [np.searchsorted(h, d) for h, d in zip(heap, drawn, strict=True)]
                continue
            if offset == GAP:
                same = (row[:, t - GAP : t] == ids[t - GAP : t]).all(axis=1)
                worth[number] = np.where(same, -np.inf, 0.0)
            worth[number] += log_p[:, ids[t]]
            if offset == GAP + AHEAD - 1:
                best = int(worth[number].argmax())
                row[:] = row[best]
                goes_on[number] = goes_on[number, best]
                reordered = True
        if reordered:
            step.go_on_as(goes_on.ravel())
    return [
        result(ids, row[0], np.where(row[0] == ids, np.arange(ids.size), -1))
        for ids, row in zip(texts, rows, strict=True)
    ]


def _gaps(size: int, rate: float, rng: np.random.Generator) -> I64:
    """Return the starts of gaps, with room for the tokens after them; none is the first token."""
    count, width = round(count_of(size, rate) / GAP), GAP + AHEAD
    free = size - 1 - count * width
    if free < 0:
        raise ValueError("so many gaps do not fit")
    # The remaining tokens are distributed before, between and after the gaps.
    spaces = np.sort(rng.integers(0, free + 1, count))
    return np.asarray(1 + spaces + width * np.arange(count))


def model_tools(
    model: LanguageModel,
    *,
    foreign: Sequence[str] = (),
    thesaurus: Path | None = None,
    dipper: Path | None = None,
    translators: Sequence[Path] = (),
    reference: LanguageModel | None = None,
) -> Tools:
    """Return the tools that a model gives.

    Args:
        model: Tokenizer, proposals and rewriting.
        foreign: Sentences by other authors.
        thesaurus: A file of MyThes; None takes that of the system, if there is one.
        dipper: Folder of DIPPER's model.
        translators: Folders of models that translate, there and back.
        reference: The other model of the smoothing attack; None takes ``model``.
    """
    tools = Tools(
        vocab_size=model.vocab_size,
        decode=lambda ids: decode(model.tokenizer, ids.tolist()),
        tokenise=lambda text: np.asarray(tokenise(model.tokenizer, text).ids),
        propose=lambda ids: logits_of(model, ids),
        foreign=tuple(foreign),
        stepper=lambda: ModelStepper(reference or model),
        writer=ModelWriter(model),
        paraphraser=None if dipper is None else Seq2Seq(dipper, top_p=0.75),
        translators=tuple(Seq2Seq(folder) for folder in translators),
    )
    path = thesaurus or MYTHES
    if thesaurus is not None or path.is_file():
        tools = replace(tools, thesaurus=lambda word: read_mythes(path).get(word, ()))
    return tools


def logits_of(model: LanguageModel, ids: I64) -> npt.NDArray[np.floating[Any]]:
    """Return logits float32 [L, V]; row ``t`` predicts token ``t``, and row 0 is zero.

    A token with which the tokenizer opens every document is read before the text.
    """
    import torch

    if ids.size < 2:
        return np.zeros((ids.size, model.vocab_size), dtype=np.float32)
    opening = opening_ids(model)
    before = np.array([] if ids[:1].tolist() == opening else opening, dtype=np.int64)
    fed = torch.from_numpy(np.concatenate([before, ids[:-1]]))[None].to(model.device.torch_device)
    with torch.inference_mode():
        out = model.network(input_ids=fed, use_cache=False).logits[0, before.size :]
    rows = out[:, : model.vocab_size].float().cpu().numpy()
    return np.concatenate([np.zeros((1, rows.shape[1]), dtype=rows.dtype), rows])


class ModelStepper:
    """A local model that reads several texts in parallel, one token of each at a time."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._cache: Any = None

    def __call__(self, tokens: I64) -> npt.NDArray[np.floating[Any]]:
        """Read the next tokens, int64 [B]; return their predictions, float32 [B, V]."""
        import torch

        fed = tokens[:, None]
        if self._cache is None:
            opening = np.array(opening_ids(self._model), dtype=np.int64)
            fed = np.concatenate([np.tile(opening, (tokens.size, 1)), fed], axis=1)
        with torch.inference_mode():
            out = self._model.network(
                input_ids=torch.from_numpy(fed).to(self._model.device.torch_device),
                past_key_values=self._cache,
                use_cache=True,
                logits_to_keep=1,
            )
        self._cache = out.past_key_values
        rows: npt.NDArray[np.floating[Any]] = out.logits[:, -1].float().cpu().numpy()
        return rows[:, : self._model.vocab_size]

    def go_on_as(self, rows: I64) -> None:
        """Continue each text as another one; int64 [B]."""
        import torch

        if self._cache is not None:
            self._cache.reorder_cache(torch.from_numpy(rows))


class ModelWriter:
    """A local model that rewrites.

    A model without a chat template is not an instruct model: it continues the request as a text,
    and its answer ends at the first empty line.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._asked = bool(getattr(model.tokenizer, "chat_template", None))

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._model.name

    def __call__(self, system: str, user: str, *, seed: int, tokens: int) -> str:
        """Answer a request; at most ``tokens`` tokens."""
        profile = Profile(
            payload_bits=36,
            code="tbcc",
            vocab_size=self._model.vocab_size,
            temperature=0.7,
            top_p=0.95,
        )
        start = self.request(system, user)
        limit = max(1, min(tokens, self._model.context_length - len(start)))
        generated = generate(self._model, start, None, None, profile, tokens=limit, seed=seed)
        text = generated.text.strip()
        return text if self._asked else text.partition("\n\n")[0]

    def log_likelihoods(self, system: str, user: str, answer: str) -> F64:
        """Return the log probability of each token of an answer; float64 [A], nats."""
        start = np.array(self.request(system, user), dtype=np.int64)
        ids = np.concatenate([start, tokenise(self._model.tokenizer, answer).ids])
        logits = logits_of(self._model, ids)[start.size :].astype(np.float64)
        top = logits.max(axis=1, keepdims=True)
        log_z = top[:, 0] + np.log(np.exp(logits - top).sum(axis=1))
        return np.asarray(logits[np.arange(len(logits)), ids[start.size :]] - log_z)

    def request(self, system: str, user: str) -> list[int]:
        """Return the tokens of a request, up to the start of the answer."""
        if not self._asked:
            plain = f"{system}\n\n{user}\n\nAnswer:\n"
            return [*opening_ids(self._model), *tokenise(self._model.tokenizer, plain).ids.tolist()]
        talk = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        with tokenizing():
            text = self._model.tokenizer.apply_chat_template(
                talk, tokenize=False, add_generation_prompt=True
            )
            return [int(i) for i in self._model.tokenizer.encode(text, add_special_tokens=False)]


class Seq2Seq(Paraphraser):
    """A model from text to text, loaded from a folder: DIPPER's T5, or a translator.

    Args:
        folder: Folder of model and tokenizer.
        top_p: Threshold of nucleus sampling; 0 takes the likeliest of four beams.

    Raises:
        ModelError: The folder contains no such model.
    """

    def __init__(self, folder: Path, top_p: float = 0.0) -> None:
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        safe = {"local_files_only": True, "trust_remote_code": False}
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(folder, **safe)
            self._network = AutoModelForSeq2SeqLM.from_pretrained(
                folder, use_safetensors=True, **safe
            ).eval()
        except (OSError, ValueError) as error:
            raise ModelError("attack.seq2seq", name=folder.name) from error
        self.name = folder.name
        self._how: dict[str, Any] = {"num_beams": 4}
        if top_p:
            self._how = {"do_sample": True, "top_p": top_p, "top_k": 0}

    def __call__(self, prompt: str, *, seed: int) -> str:
        """Answer a prompt."""
        import torch

        fed = self._tokenizer(prompt, return_tensors="pt")
        with torch.random.fork_rng(), torch.inference_mode():
            torch.manual_seed(seed)
            out = self._network.generate(**fed, **self._how, max_new_tokens=512)
        return str(self._tokenizer.decode(out[0], skip_special_tokens=True))
