"""The marked texts of one process of a serving engine, and single texts in programs.

An engine moves its texts within batches, takes them out and puts them back, reads prompts in parts
and guesses ahead. :class:`Marker` keeps a row for each text whatever the engine does, redeems its
ticket when the first token is asked for, and reports every token that it draws.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from pura.base.errors import GenerationError, PuraError
from pura.embed.engine import MarkingEngine, Seed, rngs_for
from pura.embed.generate import check_keys
from pura.embed.serving.deployments import Deployments
from pura.embed.serving.tickets import Draw, RedeemedTicket, TicketSource
from pura.scheme import I64, Payload, Profile, SecretKey, encode

if TYPE_CHECKING:
    import torch

NO_TOKEN: Final = -1
"""Stands for a token where none was drawn; also vLLM's word for one that the host does not know."""

_log = logging.getLogger(__name__)


@dataclass(eq=False, kw_only=True)
class _RedeemedText:
    """What is known of a text whose ticket was redeemed, as long as the ticket has not ended.

    Attributes:
        ticket: The redeemed ticket.
        tokens: What this process has drawn for the text.
    """

    ticket: RedeemedTicket
    tokens: list[int] = field(default_factory=list)


@dataclass(eq=False, kw_only=True)
class _Text:
    """A text in the engine's batch.

    Attributes:
        ticket: The ticket that its request brought.
        prompt: Gives the token ids that stand before the text; None where the engine does not say.
        order: Which text of this process it is; with its length it seeds the ordinary randomness.
        redeemed: What its ticket was redeemed for; None before that, and where it was refused.
        row: Its row of the marking engine; None before that.
        void: Whether its ticket was refused: it gets no token of the model.
    """

    ticket: str
    prompt: Callable[[], Sequence[int]] | None
    order: int
    redeemed: _RedeemedText | None = None
    row: int | None = None
    void: bool = False


class Marker:
    """The texts of one process of a serving engine.

    Args:
        deployments: What it may mark with.
        entropy: Fresh random number of at least 128 bits. Processes that compute the same tokens
            side by side (tensor parallelism) must share it, and see requests in the same order.
        tickets: Where tickets are redeemed and tokens reported.
        end_token: The token that ends a text. A text whose ticket was refused gets nothing else,
            for an engine offers no way to refuse a text once it is in a batch.
    """

    def __init__(
        self, deployments: Deployments, entropy: int, tickets: TicketSource, end_token: int
    ) -> None:
        self._deployments = deployments
        self._entropy = entropy
        self._tickets = tickets
        self._end_token = end_token
        self._engine = MarkingEngine()
        self._texts: dict[int, _Text] = {}
        self._redeemed: dict[str, _RedeemedText] = {}
        self._begun = 0

    def __len__(self) -> int:
        return len(self._texts)

    def begin(self, ticket: str, prompt: Callable[[], Sequence[int]] | None = None) -> int:
        """Begin a text, or one that the engine had taken out.

        Args:
            ticket: The ticket of its request.
            prompt: Gives the token ids that stand before the text; called when its ticket has been
                redeemed, and only for a gateway that keeps questions.

        Returns:
            The number of the text.
        """
        self._begun += 1
        self._texts[self._begun] = _Text(ticket=ticket, prompt=prompt, order=self._begun)
        return self._begun

    def end(self, text: int) -> None:
        """Forget a text that left the batch; it may come back until its ticket has ended."""
        gone = self._texts.pop(text)
        if gone.row is not None:
            if gone.redeemed is not None:
                gone.redeemed.tokens = list(self._engine.tokens(gone.row))
            self._engine.remove(gone.row)

    def prepare(self, texts: Sequence[int]) -> None:
        """Redeem the tickets of the texts that are asked for a token for the first time.

        Args:
            texts: The texts of this step; none twice.
        """
        new = [self._texts[text] for text in texts if self._is_new(self._texts[text])]
        if not new:
            return
        self._forget_ended()
        waiting = {text.ticket: text for text in new if text.ticket not in self._redeemed}
        redeemed = self._tickets.redeem(list(waiting), self._deployments.series())
        for text, ticket in zip(waiting.values(), redeemed, strict=True):
            if ticket is not None:
                self._redeemed[text.ticket] = _RedeemedText(ticket=ticket)
                if ticket.wants_question and text.prompt is not None:
                    self._tickets.question(ticket.number, list(text.prompt()))
        for text in new:
            self._add_row(text)

    def drawn(self, text: int) -> Sequence[int]:
        """Return the tokens of a text as its row knows them; to be read only."""
        row = self._texts[text].row
        return () if row is None else self._engine.tokens(row)

    def agree(
        self, text: int, count: int, last: int | None, read: Callable[[], Sequence[int]]
    ) -> None:
        """Let a row go on from its text as the engine has it.

        A token that this marker did not draw is reported: the text is not the marker's alone.

        Args:
            text: The text.
            count: How many tokens it has.
            last: The last of them; None if there is none, or if it is not known here yet.
            read: Returns all of them; called only where they differ.
        """
        own = self._texts[text]
        if own.row is None:
            return
        drawn = self._engine.tokens(own.row)
        if len(drawn) == count and (not drawn or last is None or last == drawn[-1]):
            return
        tokens = list(read())
        if own.redeemed is not None and tokens != list(drawn[: len(tokens)]):
            self._tickets.report((), [own.redeemed.ticket.number])
        # Fresh randomness from here on: two processes may have drawn a different number of times.
        self._engine.resume(own.row, tokens, self._rng(own.order, len(tokens)))

    def mark(self, logits: torch.Tensor, texts: Sequence[int | None]) -> I64:
        """Choose a token for every text and leave nothing else standing, in place.

        Whatever the engine does afterwards, temperature, top-k, top-p or greedy search, it takes
        that token. A line without a distribution is left to the engine.

        Args:
            logits: float [B, V].
            texts: [B], None for a line that is not marked.

        Returns:
            int64 [B], the chosen tokens; :data:`NO_TOKEN` where none was.

        Raises:
            GenerationError: The profile is for more tokens than there are logits.
        """
        import torch

        rows = [None if text is None else self._texts[text].row for text in texts]
        try:
            drawn = self._engine.step(logits, rows)
        except ValueError:
            raise GenerationError("generate.logits", logits=logits.shape[1]) from None
        tokens = np.where([row is not None for row in rows], drawn.tokens, NO_TOKEN)
        for line, text in enumerate(texts):
            if text is not None and self._texts[text].void:
                tokens[line] = self._end_token
        self._report(texts, tokens)
        taken = torch.from_numpy(np.flatnonzero(tokens != NO_TOKEN)).to(logits.device)
        chosen = torch.from_numpy(tokens[tokens != NO_TOKEN]).to(logits.device)
        logits[taken] = float("-inf")
        logits[taken, chosen] = 0.0
        return np.asarray(tokens)

    def spoil(self, text: int) -> None:
        """Report that a text is written in a way in which no mark can be kept."""
        redeemed = self._texts[text].redeemed
        if redeemed is not None:
            self._tickets.report((), [redeemed.ticket.number])

    def _is_new(self, text: _Text) -> bool:
        return text.row is None and not text.void

    def _add_row(self, text: _Text) -> None:
        """Give a text its row, or none where its ticket was refused or its mark cannot be made."""
        redeemed = self._redeemed.get(text.ticket)
        alive = any(
            other.ticket == text.ticket and other.row is not None for other in self._texts.values()
        )
        if redeemed is None or alive:
            text.void = True
            return
        mark = redeemed.ticket.mark
        try:
            deployment = self._deployments.named[mark.deployment]
            encode(mark.payload, deployment.profile)
        except (KeyError, PuraError):
            _log.error("a gateway assigned a mark that this engine has no deployment for")
            text.void = True
            return
        text.redeemed = redeemed
        text.row = self._engine.add(
            deployment.key,
            mark.payload,
            deployment.profile,
            self._rng(text.order, len(redeemed.tokens)),
            tokens=redeemed.tokens,
        )

    def _report(self, texts: Sequence[int | None], tokens: I64) -> None:
        draws = []
        for text, token in zip(texts, tokens.tolist(), strict=True):
            own = None if text is None else self._texts[text]
            if own is None or own.redeemed is None or own.row is None or token == NO_TOKEN:
                continue
            position = len(self._engine.tokens(own.row)) - 1
            number = own.redeemed.ticket.number
            draws.append(Draw(number=number, position=position, token=token))
        if draws:
            self._tickets.report(draws, ())

    def _forget_ended(self) -> None:
        """Forget the texts whose requests have ended, except those that are still in the batch."""
        present = {text.ticket for text in self._texts.values() if text.row is not None}
        absent = {
            text.ticket.number: name for name, text in self._redeemed.items() if name not in present
        }
        for number in self._tickets.ended(list(absent)) if absent else ():
            del self._redeemed[absent[number]]

    def _rng(self, order: int, position: int) -> np.random.Generator:
        seed = np.random.SeedSequence(self._entropy, spawn_key=(order, position))
        return np.random.default_rng(seed)


class SingleText:
    """One marked text, for engines that ask a processor of its own for each request.

    Args:
        key: The secret key. Hazard: held until this is dropped.
        payload: What the text shall carry.
        profile: The profile that the verifier will use.
        seed: Of the ordinary randomness; None takes the operating system's.

    Raises:
        PayloadError: The payload does not fit the profile.
        ProfileError: The profile names another key.
    """

    def __init__(
        self, key: SecretKey, payload: Payload, profile: Profile, *, seed: Seed = None
    ) -> None:
        check_keys(profile, [key])
        self._engine = MarkingEngine()
        self._row = self._engine.add(key, payload, profile, rngs_for(seed, 1)[0])
        self._prompt: int | None = None

    def next_token(self, input_ids: Sequence[int], logits: torch.Tensor) -> int:
        """Choose the next token.

        Args:
            input_ids: [P + t], the prompt and what has been written; what is left of a draft may
                stand behind it.
            logits: float [V].

        Raises:
            GenerationError: The text does not go on with what was chosen, or there is no
                distribution, or one of fewer tokens than the profile has.
        """
        if self._prompt is None:
            self._prompt = len(input_ids)
        own = list(self._engine.tokens(self._row))
        if list(input_ids[self._prompt : self._prompt + len(own)]) != own:
            raise GenerationError("processor.grown")
        try:
            token = int(self._engine.step(logits[None], [self._row]).tokens[0])
        except ValueError:
            raise GenerationError("generate.logits", logits=logits.shape[0]) from None
        if token < 0:
            raise GenerationError("model.not-finite")
        return token
