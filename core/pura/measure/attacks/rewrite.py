"""Attacks that a model carries out, and the local models that do.

The papers used models of 3 to 11 billion weights. Here any local model rewrites, and what it is
called stands in every result: with a small one the attack is a *surrogate* of the one that it is
named after, never the same. The requests are our own words for what the papers describe.
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
"""Sentences that are rewritten at once, as DIPPER does it."""

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
    """Rewrite a few sentences at a time; ``rewrite`` gets what stands before, and them."""
    sentences, _ = split_sentences(text)
    done = ""
    for first in range(0, len(sentences), size):
        part = " ".join(s.strip() for s in sentences[first : first + size])
        new = rewrite(done, part).strip()
        done = f"{done} {new or part}".strip()
    return done


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
    """Paraphrase as DIPPER does: three sentences at a time behind what has been written.

    Args:
        text: The text.
        rng: Seeds of the sampling.
        lexical: How much the words are to differ, 0 … 100 in steps of 20.
        order: How much the order is to differ.
        model: The real one.
        surrogate: A writer, when the real one is not here.

    Raises:
        ValueError: The model answered with its own control codes, or neither is there.
    """

    def rewrite(before: str, part: str) -> str:
        if model is not None:
            codes = f"lexical = {100 - lexical}, order = {100 - order}"
            said = model(f"{codes} {before} <sent> {part} </sent>", seed=_seed(rng))
            if "<sent>" in said:
                raise ValueError("the paraphraser repeats its control codes")
            return said
        if surrogate is None:
            raise ValueError("no model paraphrases")
        asked = _ASK.format(text=part) + _DIVERSE.format(lexical=lexical, order=order)
        return surrogate(_ROLE, asked, seed=_seed(rng), tokens=_token_limit(part))

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
        decode: Token ids to text.
        tokenise: Text to token ids.
        propose: A model that says how surprising a token is.
        writer: Paraphrases, and fills the gaps.
        share: Of the tokens that become gaps, those with the highest self-information.
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
        surprise[:1] = -np.inf  # nothing predicts the first token
        gap = np.zeros(ids.size, dtype=bool)
        gap[np.argsort(-surprise, kind="stable")[: round(share * ids.size)]] = True
        masked = "".join(" _" if g else decode(ids[i : i + 1]) for i, g in enumerate(gap.tolist()))
        asked = _FILL.format(reference=reference, masked=masked)
        return writer(_ROLE, asked, seed=_seed(rng), tokens=_token_limit(part))

    return _windows(text, rewrite)


def best_of(
    text: str, rng: np.random.Generator, *, tools: Tools, writer: TextWriter, tries: int
) -> str:
    """Rewrite several times and keep the best by the reward of RLCracker, untrained."""

    def rewrite(_: str, part: str) -> str:
        role, asked = request(part)
        some = [
            writer(role, asked, seed=_seed(rng), tokens=_token_limit(part)) for _ in range(tries)
        ]
        some = [s for s in some if s.strip()] or [part]
        return some[int(np.argmax(rewards(part, some, tools=tools, writer=writer)))]

    return _windows(text, rewrite)


def request(text: str) -> tuple[str, str]:
    """Return what asks a model to rewrite a text: the system's words and the user's."""
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
    seen = [damage(base, (s, tools.tokenise(s)), tools) for s in rewritings]
    likeness = np.array([d.similarity for d in seen])
    steep = np.log(0.975 / 0.025) / 0.15
    sense = 2 / (1 + np.exp(-steep * (likeness - 0.85))) - 1
    fluency = np.array([-np.log(d.perplexity or 1.0) for d in seen])
    distance = np.array([_k3(writer, request(text)[1], s) for s in rewritings])
    alpha = max(1.0, 15 * (1 - float(likeness.mean())))
    return np.asarray(alpha * sense + 0.9 * distance + 0.1 * fluency)


def _k3(writer: TextWriter, asked: str, answer: str) -> float:
    """Return ``mean(e^d - d - 1)``, ``d`` how much likelier each token is with the text at hand.

    A rewriting that copies has large ``d``; its divergence counts against it.
    """
    with_text = writer.log_likelihoods(_ROLE, asked, answer)
    without = writer.log_likelihoods(_ROLE, "", answer)
    d = np.clip(without - with_text, -20, 20)
    return -float(np.mean(np.exp(d) - d - 1)) if d.size else 0.0


def smooth(
    texts: Sequence[I64], rngs: Sequence[np.random.Generator], *, rate: float, step: Stepper
) -> list[Attacked]:
    """Draw the least certain tokens anew from another model, left to right.

    The attack of Chang et al. works while the text is written, with the marked model's own
    distributions. This is what can be done afterwards ("smoothing, post hoc"): the other model
    reads the attacked text so far; where its distribution has a small 2-norm, it draws the token.

    Args:
        texts: int64 [L] each; the other model reads them side by side.
        rngs: Randomness of each.
        rate: Share of the tokens that are drawn anew: those below this quantile of the norms, as
            met on the text as it stood.
        step: The other model; a fresh one.
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
            # Nothing predicts the first token: the flattest distribution that there is.
            some = norms[row] or [float(p.size**-0.5)]
            some.append(float(np.sqrt((p * p).sum())))
            norms[row] = some
            # The threshold follows the norms that were met so far, so one pass is enough.
            if some[-1] <= np.quantile(some, rate):
                ids[t] = rng.choice(p.size, p=p)
                origins[row][t] = t if ids[t] == texts[row][t] else -1
    return [result(*row) for row in zip(texts, out, origins, strict=True)]


GAP: Final = 3
"""Tokens that are filled at once."""
AHEAD: Final = 4
"""Tokens behind a gap by which its fillings are compared."""


def infill(
    texts: Sequence[I64],
    rngs: Sequence[np.random.Generator],
    *,
    rate: float,
    tries: int,
    step: Stepper,
) -> list[Attacked]:
    """Cut gaps into texts and let another model fill them, with a view to both sides.

    Left to right, a model fills each gap of three tokens several times from what stands before it;
    the filling after which the next four tokens are likeliest stays. What stood there is no choice.

    Args:
        texts: int64 [L] each; the other model reads them side by side.
        rngs: Randomness of each.
        rate: Share of the tokens that lie in gaps, at most 3 of 7.
        tries: Fillings a gap.
        step: The other model; a fresh one.

    Raises:
        ValueError: So many gaps do not fit, or nothing is tried.
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
        chosen = False
        for number, (ids, rng) in enumerate(zip(texts, rngs, strict=True)):
            at = t - starts[number]
            at = at[(at >= 0) & (at < GAP + AHEAD)]
            if t >= ids.size or not at.size:
                continue
            row, place = rows[number], int(at[0])
            log_p = logits[number] - logits[number].max(axis=1, keepdims=True)
            log_p = log_p - np.log(np.exp(log_p).sum(axis=1, dtype=np.float64, keepdims=True))
            if place < GAP:
                heap = np.exp(log_p, dtype=np.float64).cumsum(axis=1)
                drawn = rng.random(tries) * heap[:, -1]
                row[:, t] = [np.searchsorted(h, d) for h, d in zip(heap, drawn, strict=True)]
                continue
            if place == GAP:
                same = (row[:, t - GAP : t] == ids[t - GAP : t]).all(axis=1)
                worth[number] = np.where(same, -np.inf, 0.0)
            worth[number] += log_p[:, ids[t]]
            if place == GAP + AHEAD - 1:
                best = int(worth[number].argmax())
                row[:] = row[best]
                goes_on[number] = goes_on[number, best]
                chosen = True
        if chosen:
            step.go_on_as(goes_on.ravel())
    return [
        result(ids, row[0], np.where(row[0] == ids, np.arange(ids.size), -1))
        for ids, row in zip(texts, rows, strict=True)
    ]


def _gaps(size: int, rate: float, rng: np.random.Generator) -> I64:
    """Return where gaps begin; each has room for what it is compared by, none is the beginning."""
    count, width = round(count_of(size, rate) / GAP), GAP + AHEAD
    free = size - 1 - count * width
    if free < 0:
        raise ValueError("so many gaps do not fit")
    # What is left over is dealt out before, between and behind them.
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
        foreign: Sentences by somebody else.
        thesaurus: A file of MyThes; None takes the system's, where there is one.
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
    """Return float32 [L, V]; row ``t`` predicts token ``t``, the first knows nothing.

    Where the model's tokenizer opens every document with a token, it is read before the text.
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
    """A local model that is fed texts side by side, one token of each at a time."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._cache: Any = None

    def __call__(self, tokens: I64) -> npt.NDArray[np.floating[Any]]:
        """Take the next tokens, int64 [B], and return what they predict; float32 [B, V]."""
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
        """Let each text go on as another one; int64 [B]."""
        import torch

        if self._cache is not None:
            self._cache.reorder_cache(torch.from_numpy(rows))


class ModelWriter:
    """A local model that rewrites.

    One without a chat template is no instruct model: it gets the request as the beginning of a
    text that it continues, and what it writes is taken up to the first empty line.
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
        most = max(1, min(tokens, self._model.context_length - len(start)))
        made = generate(self._model, start, None, None, profile, tokens=most, seed=seed)
        text = made.text.strip()
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
        """Return the tokens of a request, up to where the answer begins."""
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
    """A model that makes one text of another, from its folder: DIPPER's T5, a translator.

    Args:
        folder: Model and tokenizer.
        top_p: Of nucleus sampling; 0 takes the likeliest of four beams.

    Raises:
        ModelError: The folder holds no such model.
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
