"""Why a call has no result."""

import os
import re
import socket
from typing import Any

DEFAULT_PROBLEM_CODE = -32_000
"""The code of JSON-RPC with which the broker says a problem of its own."""


class BelfryError(Exception):
    """What the broker refused, or why a call has no answer.

    `code` is the one of JSON-RPC, or None where the broker did not answer: a post may then have
    happened. `problem` is the broker's problem document (RFC 9457), if there is one.
    """

    def __init__(
        self, text: str, *, code: int | None = None, problem: dict[str, Any] | None = None
    ) -> None:
        super().__init__(text)
        self.code = code
        self.problem = problem
        self.retry_after: float | None = None
        """Seconds until another attempt that the answer asked for, if it was one over HTTP."""

    @property
    def status(self) -> int | None:
        """The HTTP status of the problem, such as 403."""
        status = (self.problem or {}).get("status")
        return status if isinstance(status, int) else None

    @property
    def slug(self) -> str | None:
        """What tells the problem apart, such as `no-responder`: the end of its type."""
        kind = (self.problem or {}).get("type")
        return kind.rsplit("/", 1)[-1] if isinstance(kind, str) else None


class Refused(BelfryError):
    """The broker refused the call, or the opening of the connection, and says why.

    With the slug `outcome-unknown` the broker does not know what became of the call: it may have
    happened, or happen still.
    """


class TimedOut(BelfryError, TimeoutError):
    """The broker did not answer in time; `problem` is why it could not be reached, if known."""


class ConnectionLost(BelfryError, ConnectionError):
    """The connection ended before the answer."""


class Unreachable(ConnectionLost):
    """Nobody listens at the address of the broker; nothing was done.

    A center that was not connected yet tells its calls so at once, and goes on trying.
    """


class Closed(BelfryError):
    """The center is closed; `problem` is why, if the broker said so."""


class ObserverRemoved(BelfryError):
    """Somebody else removed the observer."""


class Refusal(Exception):
    """Raised by a handler to refuse what it was given; its text is what the other side is told."""


def unreached(place: str, fault: Exception) -> BelfryError:
    """What it means that no connection came about, or that it ended before the answer."""
    text = str(fault) or type(fault).__name__
    if isinstance(fault, socket.gaierror):
        return Unreachable(f"the broker cannot be reached at {place}: {fault.strerror}")
    # So says asyncio, of one address or of several.
    if isinstance(fault, OSError) and "Connect call failed" in text:
        number = re.search(r"\[Errno (\d+)\]", text)
        why = os.strerror(int(number[1])) if number else text
        return Unreachable(f"the broker cannot be reached at {place}: {why}")
    return ConnectionLost(f"the broker cannot be reached: {text}")


def problem_of(error: BelfryError | None) -> dict[str, Any] | None:
    """The problem document of an error, if there is one."""
    return None if error is None else error.problem


def refused(error: dict[str, Any]) -> Refused:
    """What the error of a JSON-RPC response means."""
    problem = error.get("data")
    problem = problem if isinstance(problem, dict) else None
    text = _sentence(problem, str(error.get("message", "refused")))
    return Refused(text, code=error.get("code"), problem=problem)


def refusal_of(problem: dict[str, Any]) -> Refused:
    """What a problem means that an opening was answered with."""
    return Refused(
        _sentence(problem, "the broker refused the connection"), code=DEFAULT_PROBLEM_CODE,
        problem=problem)


def _sentence(problem: dict[str, Any] | None, otherwise: str) -> str:
    problem = problem or {}
    text = str(problem.get("detail") or problem.get("title") or otherwise)
    errors = problem.get("errors")
    faults = [
        _fault(fault) for fault in (errors if isinstance(errors, list) else [])
        if isinstance(fault, dict)]
    return f"{text.rstrip('.')}: {'; '.join(faults)}" if faults else text


def _fault(fault: dict[str, Any]) -> str:
    place = fault.get("parameter") or fault.get("header") or fault.get("pointer") or ""
    return f"{place} {fault.get('detail', '')}".strip()
