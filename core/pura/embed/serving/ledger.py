"""The rows of a gateway: a number for each answer, drawn when the engine asks for its first token.

A row is on disk before the adapter gets to know its number, and says later how the answer ended. So
no answer lacks its row, wherever a process is killed; a row that says nothing about its end is of
an answer of which nobody knows whether it left.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pura.base.errors import GenerationError, PuraError, RegisterError
from pura.base.files import file_lock
from pura.embed.serving.answers import Outcome
from pura.embed.serving.policy import NUMBER, WHOLE_PAYLOAD, Customer, Policy
from pura.embed.serving.tickets import AssignedMark
from pura.register.issue_log import SUFFIX, IssueLog
from pura.register.rows import Issue
from pura.scheme import Payload, PayloadSeries, pack

# Another process of the same folder draws and writes a row within milliseconds.
_PATIENCE_S: Final = 10.0
# A number that many draws in a row find taken is refused: hardly any is left.
_MOST_DRAWS: Final = 1000

_log = logging.getLogger(__name__)


@dataclass(eq=False, kw_only=True)
class Order:
    """What a ticket is redeemed for.

    Attributes:
        customer: For whom the answer is.
        model: Name of the model, as the policy has it.
        manifest: Identifier of the manifest that will name the mark; empty where none is signed.
        issue: The row, once a number was drawn.
    """

    customer: Customer
    model: str
    manifest: str = ""
    issue: Issue | None = None

    def row(self) -> Issue:
        """Return the row.

        Raises:
            RegisterError: No number was drawn.
        """
        if self.issue is None:
            raise RegisterError("register.never", code="register-never")
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
        self._taken: set[str] = set()
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
                marks = [self._draw(order) for order in orders]
                self._rows.add_many(order.issue for order in orders if order.issue is not None)
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
        if order.issue is None:
            return
        row = {"payload": order.issue.payload.text, "outcome": outcome.value, "tokens": left}
        with self._lock, (self._policy.log / "outcomes.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")

    def close(self) -> None:
        """Bring everything to disk."""
        self._rows.close()

    def _draw(self, order: Order) -> AssignedMark | PuraError:
        """Draw the payload of an order, and set its row."""
        today = dt.datetime.now(dt.UTC).date().isoformat()
        try:
            for _ in range(_MOST_DRAWS):
                payload = self._payload(order.customer, today)
                if payload.text not in self._taken:
                    break
                if NUMBER not in self._policy.payload.values():
                    break  # the same payload for every answer of a customer
            else:
                return GenerationError("gateway.numbers")
            self._taken.add(payload.text)
            order.issue = Issue(
                payload=payload,
                who=order.customer.who,
                when=today,
                model=order.model,
                manifest=order.manifest,
            )
        except PuraError as error:
            return error
        return AssignedMark(deployment=self._policy.deployment, payload=payload)

    def _payload(self, customer: Customer, today: str) -> Payload:
        profile = self._policy.profile
        widths = {field.name: field.bits for field in profile.fields}
        offsets = {field.name: field.offset for field in profile.fields}
        values: dict[str, str | int] = {}
        for name, rule in self._policy.payload.items():
            match rule:
                case "@number":
                    width = widths.get(name, profile.payload_bits)
                    values[name] = offsets.get(name, 0) + secrets.randbits(width)
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
        """Read which payloads other processes, or this one before, have given."""
        for path in self._policy.log.glob(f"*{SUFFIX}"):
            with path.open("rb") as file:
                file.seek(self._read_to.get(path.name, 0))
                added = file.read()
            whole = added[: added.rfind(b"\n") + 1]
            self._read_to[path.name] = self._read_to.get(path.name, 0) + len(whole)
            self._taken.update(_payloads(whole))


def _payloads(lines: bytes) -> Iterator[str]:
    for line in lines.splitlines():
        try:
            payload = json.loads(line).get("payload")
        except (ValueError, AttributeError):
            continue  # a line that a crash cut
        if isinstance(payload, str):
            yield payload
