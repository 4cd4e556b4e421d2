"""The rows of a gateway: a number for each answer, drawn when the engine asks for its first token.

A row is on disk before the adapter gets to know its number, and says later how the answer ended. So
no answer lacks its row, wherever a process is killed; a row that says nothing about its end is of
an answer of which nobody knows whether it left.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from pura.base.errors import GenerationError, PuraError, RegisterError
from pura.base.files import file_lock
from pura.embed.serving.answers import Outcome
from pura.embed.serving.policy import NUMBER, WHOLE_PAYLOAD, Customer, Policy
from pura.embed.serving.requests import RequestRefusedError
from pura.embed.serving.tickets import AssignedMark
from pura.register.drawing import draw_number
from pura.register.issue_log import SUFFIX, IssueLog
from pura.register.outcomes import OUTCOMES
from pura.register.rows import Drawn, Issue
from pura.scheme import Payload, PayloadSeries, pack

# Another process of the same folder draws and writes a row within milliseconds.
_PATIENCE_S: Final = 10.0

_log = logging.getLogger(__name__)


@dataclass(eq=False, kw_only=True)
class Order:
    """What a ticket is redeemed for.

    Attributes:
        customer: For whom the answer is.
        model: Name of the model, as the policy has it.
        manifest: Identifier of the manifest that will name the mark; empty where none is signed.
        texts: What people and programs wrote before the answer, where questions are kept.
        issue: The row, once a number was drawn.
    """

    customer: Customer
    model: str
    manifest: str = ""
    texts: tuple[str, ...] = field(default=(), repr=False)
    issue: Issue | None = None

    def row(self) -> Issue:
        """Return the row.

        Raises:
            RequestRefusedError: No number was drawn.
        """
        if self.issue is None:
            raise RequestRefusedError("gateway.undrawn", status=502, code="not-drawn")
        return self.issue


class Ledger:
    """Draws numbers and writes rows; for all threads, and beside other processes of the folder.

    Args:
        policy: What is assigned.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._rows = IssueLog(policy.log)
        self._lock = threading.Lock()
        self._between = file_lock(policy.log / "number.lock", _PATIENCE_S)
        self._taken: set[_Mark] = set()
        # Where no number is drawn, all answers to a customer carry one mark: its one row.
        self._standing: dict[_Mark, Issue] = {}
        self._read_to: dict[str, int] = {}

    def issue(
        self, orders: Sequence[Order], series: Mapping[str, PayloadSeries]
    ) -> list[AssignedMark | PuraError]:
        """Draw a mark for each order; when this returns, the rows of all of them are on disk.

        Args:
            orders: The orders.
            series: By the deployment's name, the key, epoch and profile that the engine marks with.
        """
        own = series.get(self._policy.deployment)
        if own is None or own.profile != self._policy.profile.fingerprint:
            return [
                GenerationError("gateway.deployment", name=self._policy.deployment) for _ in orders
            ]
        try:
            with self._lock, self._between:
                self._read_others()
                marks = [self._draw(order, own) for order in orders]
                new = self._new_rows(orders)
                if new:
                    self._rows.add_many(new)
                    self._rows.sync()
        except (OSError, TimeoutError) as error:
            why = getattr(error, "errno", None) or 0
            return [RegisterError("file.write", name=self._policy.log.name, why=why)] * len(orders)
        except PuraError as error:
            return [error] * len(orders)
        return marks

    def finish(self, order: Order, outcome: Outcome, left: int) -> None:
        """Note how an answer ended.

        Args:
            order: The order of its ticket.
            outcome: How it ended.
            left: How many tokens of it were handed over.
        """
        if order.issue is None or order.issue.series is None:
            return
        row = {
            **asdict(order.issue.series),  # a payload alone names no mark
            "payload": order.issue.payload.text,
            "outcome": outcome.value,
            "tokens": left,
        }
        with self._lock, (self._policy.log / OUTCOMES).open("a") as file:
            file.write(json.dumps(row) + "\n")

    def close(self) -> None:
        """Bring everything to disk."""
        self._rows.close()

    def _draw(self, order: Order, series: PayloadSeries) -> AssignedMark | PuraError:
        """Draw the payload of an order, and set its row."""
        today = dt.datetime.now(dt.UTC).date().isoformat()
        fields = self._policy.payload
        numbered = [name for name in fields if fields[name] == NUMBER]
        bits = sum(self._width(name) for name in numbered)

        def is_taken(number: int) -> bool:
            payload = self._payload(order.customer, today, self._split(numbered, number))
            return not self._taken.isdisjoint(_marks(series, payload.text))

        try:
            number = 0
            if numbered:
                number = draw_number(
                    bits, is_taken, issued=lambda: filter(is_taken, range(1 << bits))
                )
            payload = self._payload(order.customer, today, self._split(numbered, number))
            order.issue = Issue(
                payload=payload,
                series=series,
                drawn=Drawn.RANDOM if numbered else Drawn.GIVEN,
                who=order.customer.who,
                when=today,
                model=order.model,
                manifest=order.manifest,
            )
        except PuraError as error:
            return error
        mark = _mark_of(series, payload.text)
        self._taken.add(mark)
        standing = self._standing.get(mark)
        if not numbered and standing is not None and standing.who == order.customer.who:
            order.issue = replace(standing, manifest=order.manifest)
        return AssignedMark(deployment=self._policy.deployment, payload=payload)

    def _new_rows(self, orders: Sequence[Order]) -> list[Issue]:
        """Return the rows that have to be written: of a mark and a customer one, whatever day."""
        new: dict[tuple[_Mark, str], Issue] = {}
        for order in orders:
            issue = order.issue
            if issue is None or issue.series is None:
                continue
            mark = _mark_of(issue.series, issue.payload.text)
            standing = self._standing.get(mark)
            if standing is None or not issue.same_as(standing):
                new.setdefault((mark, issue.who), issue)
        return list(new.values())

    def _width(self, name: str) -> int:
        """Return how many bits a field has; the whole payload of a profile without fields."""
        profile = self._policy.profile
        widths = {field.name: field.bits for field in profile.fields}
        return widths.get(name, profile.payload_bits)

    def _split(self, names: Sequence[str], number: int) -> dict[str, int]:
        """Return the part of a number that each of some fields gets, the first the lowest bits."""
        parts = {}
        for name in names:
            width = self._width(name)
            parts[name], number = number & ((1 << width) - 1), number >> width
        return parts

    def _payload(self, customer: Customer, today: str, numbers: Mapping[str, int]) -> Payload:
        """Return a payload by the policy.

        Args:
            customer: For whom.
            today: The day, ISO 8601.
            numbers: What was drawn for each field that takes a number.

        Raises:
            PuraError: The customer's number, or a constant, does not fit into its field.
        """
        profile = self._policy.profile
        offsets = {field.name: field.offset for field in profile.fields}
        values: dict[str, str | int] = {}
        for name, rule in self._policy.payload.items():
            match rule:
                case "@number":
                    values[name] = offsets.get(name, 0) + numbers[name]
                case "@customer":
                    values[name] = customer.number or 0
                case "@today":
                    values[name] = today
                case _:
                    values[name] = rule
        if profile.fields:
            return pack(profile.fields, values)
        return Payload.from_int(int(values[WHOLE_PAYLOAD]), profile.payload_bits)

    def _read_others(self) -> None:
        """Read which marks other processes, or this one before, have given."""
        numbered = NUMBER in self._policy.payload.values()
        for path in self._policy.log.glob(f"*{SUFFIX}"):
            with path.open("rb") as file:
                file.seek(self._read_to.get(path.name, 0))
                added = file.read()
            whole = added[: added.rfind(b"\n") + 1]
            self._read_to[path.name] = self._read_to.get(path.name, 0) + len(whole)
            for row in _rows_in(whole):
                mark = (
                    row.get("key", ""),
                    row.get("epoch", ""),
                    row.get("profile", ""),
                    row["payload"],
                )
                self._taken.add(mark)
                if not numbered and all(mark[:1] + mark[2:3]) and mark not in self._standing:
                    self._standing[mark] = _issue_of(row)


_Mark = tuple[str, str, str, str]
"""Key, epoch, profile and payload; the first three are empty in rows of versions before 0.5."""


def _mark_of(series: PayloadSeries, payload: str) -> _Mark:
    return series.key, series.epoch, series.profile, payload


def _marks(series: PayloadSeries, payload: str) -> tuple[_Mark, _Mark]:
    """Return the marks by which a payload is taken: this one, and one of a key that is not said."""
    return _mark_of(series, payload), ("", "", "", payload)


def _rows_in(lines: bytes) -> Iterator[dict[str, str]]:
    for line in lines.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue  # a line that a crash cut
        if isinstance(row, dict) and "payload" in row:  # the head has none
            yield {name: str(value) for name, value in row.items()}


def _issue_of(row: Mapping[str, str]) -> Issue:
    """Return the issue of a row that says its key; without its manifest."""
    return Issue(
        payload=Payload(text=row["payload"]),
        series=PayloadSeries(key=row["key"], epoch=row["epoch"], profile=row["profile"]),
        drawn=Drawn(row["drawn"]),
        who=row["who"],
        when=row["when"],
        model=row["model"],
    )
