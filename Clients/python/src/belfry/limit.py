"""What waits: for how long, and how it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from .errors import BelfryError, TimedOut, problem_of


class Limit:
    """A time that a call may take: past it, it ends with TimedOut.

    `why` tells what keeps the broker from answering, as far as is known.
    """

    def __init__(self, seconds: float, why: Callable[[], BelfryError | None]) -> None:
        self._seconds = seconds
        self._why = why
        self._timeout = asyncio.timeout(seconds)

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()

    async def __aexit__(self, *fault: Any) -> None:
        try:
            await self._timeout.__aexit__(*fault)
        except TimeoutError:
            why = self._why()
            text = f"the broker did not answer within {self._seconds:g} s"
            text = f"{text}: {why}" if why else text
            raise TimedOut(text, problem=problem_of(why)) from why


def settle(future: asyncio.Future[Any], result: Any, error: BelfryError | None) -> None:
    """Ends what waits, unless nobody does any more."""
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
