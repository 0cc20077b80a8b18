"""The program's functions: what they say, and that no fault of them stops anybody else."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from .errors import Refusal
from .wire import JSONObject, text_of

logger = logging.getLogger("belfry")

REFUSAL_CODE = 1
"""The code of a refusal by a handler; those of JSON-RPC itself are below zero."""

PASS_CODE = -32_601
"""The code of JSON-RPC by which a responder hands an ask on."""

Argument = TypeVar("Argument")
Handler = Callable[[Argument], Awaitable[Any] | Any]


class Passed:
    """What a handler returns that hands an ask on."""


PASSED = Passed()


async def outcome_of(
    handler: Handler[Argument], item: Argument, *, is_wanted: bool
) -> JSONObject | None:
    """What a handler says, as the members of a response; None where no response is wanted."""
    try:
        result = handler(item)
        if inspect.isawaitable(result):
            result = await result
        if not is_wanted:
            return None
        if isinstance(result, Passed):
            return {"error": {"code": PASS_CODE, "message": "handed on"}}
        message = {"result": result}
        # What is no JSON is a fault of the handler.
        text_of(message)
    except Exception as error:
        if not isinstance(error, Refusal):
            logger.exception("a handler failed")
        return _refusal(error) if is_wanted else None
    return message


def _refusal(error: Exception) -> JSONObject:
    text = (str(error) or type(error).__name__).encode("utf-8", "replace").decode()
    return {"error": {"code": REFUSAL_CODE, "message": text}}


def call_guarded(function: Callable[[Argument], None] | None, argument: Argument) -> None:
    """Tells the program something; a fault of it stops nobody else."""
    if function is None:
        return
    try:
        function(argument)
    except Exception:
        logger.exception("a callback failed")
