"""What an answer, the end of a line, or an opening that failed means.

The table is `Clients/cases/verdicts.json`. Only a broker's own word is the end of a center: its
problem document, or its close code behind its welcome. What anybody else says is tried again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from .errors import BelfryError, ConnectionLost, refusal_of
from .wire import JSONObject

TAKEN_OVER_CODE = 4001
FINAL_CODES = frozenset({1008, TAKEN_OVER_CODE, 4002, 4003})
"""The close codes after which a new connection would meet the same answer.

1008 policy, 4001 taken over, 4002 client removed, 4003 credentials expired.
"""

EXPIRED_CODE = 4003
OVERLOADED_CODE = 1013
BUSY_CODES = frozenset({OVERLOADED_CODE, 4008})
"""The close codes of a broker, or of a connection, that has too much to do."""

FINAL_STATUSES = frozenset({401, 403, 421})
"""The statuses of an opening that another attempt would meet again."""

CREDENTIALS_STATUS = 401
"""The one of them that a new token helps against."""

BUSY_STATUSES = frozenset({429, 503})
"""Those of a broker that is to be left alone for a while."""

BROKER_PAUSE_LIMIT = 300.0
STRANGER_PAUSE_LIMIT = 30.0
"""Seconds: the longest pauses that a broker, and anybody else, may ask for."""

PROBLEM_TYPE = "https://belfry.dev/problems/"
"""What the type of each problem of a broker begins with."""

SHOWN_LIMIT = 200
"""Characters of what a stranger said that an error shows."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of the center."""

    is_final: bool
    """No other attempt would end better."""
    is_busy: bool
    """The broker has too much to do."""
    least_pause: float | None
    """Seconds that were asked for until the next attempt."""


def verdict_of(
    *, code: int | None = None, fault: BelfryError | None = None, was_welcomed: bool = False,
    can_renew: bool = False,
) -> Verdict:
    """What the close code of a line, or a fault of an opening, means.

    `can_renew` says that another token may come.
    """
    status = None if fault is None else fault.status
    may_help = can_renew and (status == CREDENTIALS_STATUS or code == EXPIRED_CODE)
    is_known = status in FINAL_STATUSES or (was_welcomed and code in FINAL_CODES)
    return Verdict(
        is_final=is_known and not may_help,
        is_busy=status in BUSY_STATUSES or code in BUSY_CODES,
        least_pause=None if fault is None else fault.retry_after)


def fault_of(
    status: int, field: Callable[[str], str | None], content: bytes
) -> BelfryError:
    """What an answer to an opening says that is not 101: a refusal of the broker, or no answer.

    `field` gives the fields of the answer.
    """
    kind = (field("Content-Type") or "").split(";")[0].strip().lower()
    problem = parsed(content) if kind == "application/problem+json" else None
    if problem is not None and is_problem(problem, status):
        fault: BelfryError = refusal_of(problem)
        fault.retry_after = _seconds(field("Retry-After"), BROKER_PAUSE_LIMIT)
        return fault
    place = field("Location")
    said = f"{status}{f' to {place}' if place else ''}, {kind or 'without a content type'}"
    fault = ConnectionLost(f"the answer is not that of a broker: {said[:SHOWN_LIMIT]}")
    fault.retry_after = _seconds(field("Retry-After"), STRANGER_PAUSE_LIMIT)
    return fault


def is_problem(document: JSONObject, status: int) -> bool:
    """Whether JSON is the problem document of a broker that answers with this status."""
    kind = document.get("type")
    return (
        isinstance(kind, str) and kind.startswith(PROBLEM_TYPE)
        and document.get("status") == status)


SHAPES: dict[str, dict[str, type | tuple[type, ...]]] = {
    "addObserver": {"id": str, "token": str, "since": int},
    "resume": {"observers": list},
    "post": {"id": str},
    "ask": {"id": str},
    "mailbox": {"notifications": list},
    "fate": {"id": str, "state": str},
    "dequeue": {"removed": int},
    "enterMode": {"id": str, "token": str},
    "value": {"etag": str, "seq": int},
    "explain": {},
    "archive": {"bytes": int, "since": int},
    "archives": {"archives": list},
    "past": {"notifications": list, "seq": int, "epoch": str},
    "forget": {"removed": int},
    "setValue": {"changed": bool},
    "mergeValue": {"changed": bool},
    "removeValue": {"changed": bool},
}
"""What the results of calls have; of all others nothing is expected."""


def checked(method: str, result: Any) -> Any:
    """The result of a call; raises ConnectionLost where it has not the shape of one."""
    shape = SHAPES.get(method)
    if shape is None:
        return result
    has_members = isinstance(result, dict) and all(
        isinstance(result.get(name), kind) for name, kind in shape.items())
    if not has_members:
        raise ConnectionLost(f"the answer to {method} is not that of a broker")
    return result


def parsed(content: str | bytes) -> JSONObject | None:
    """The JSON object that a frame, or the content of an answer, is; None where it is none."""
    try:
        found = json.loads(content, parse_constant=_refuse_constant, parse_int=_integer)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _refuse_constant(name: str) -> None:
    # Python reads NaN and Infinity, which are no JSON.
    raise ValueError(name)


def _integer(digits: str) -> int | str:
    # Python refuses to make an integer of more than 4,300 digits, and would refuse to print it:
    # such a number is told as its text.
    try:
        return int(digits)
    except ValueError:
        return digits


def _seconds(text: str | None, limit: float) -> float | None:
    """The seconds of a `Retry-After`, which names them or a date."""
    if text is None:
        return None
    try:
        if text.isascii() and text.isdigit():
            return min(float(text), limit)
        left = (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError):
        return None
    return min(left, limit) if left > 0 else None
