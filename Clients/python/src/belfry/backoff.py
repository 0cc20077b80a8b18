"""The pauses between two connections."""

import random
from collections.abc import Callable

from .verdict import Verdict

FIRST_PAUSE = 1.0
PAUSE_LIMIT = 30.0
"""Seconds: the bound of the first pause, and the bound of its doubling."""

STEADY_TIME = 10.0
"""A connection that lasts for so many seconds was a good one: the pauses begin anew."""

BUSY_FAILURES = 3
"""How many failures a broker that has too much to do counts as, at least."""


class BackOff:
    """Doubles the pause after each connection that did not last, and spreads it.

    So the clients of a restarted broker do not all come back in the same moment.
    """

    def __init__(self, spread: Callable[[], float] = random.random) -> None:
        self._spread = spread
        self._failures = 0

    def pause(self, lasted: float, verdict: Verdict, announced: float | None) -> float:
        """Seconds until the next attempt, after a connection that `lasted` so long.

        `verdict` is about how it ended, and `announced` the pause that a broker asked for which
        stops. The first pause may be none, and is spread as far as the second.
        """
        if lasted > STEADY_TIME:
            self._failures = 0
        if verdict.is_busy:
            self._failures = max(self._failures, BUSY_FAILURES)
        bound = min(PAUSE_LIMIT, FIRST_PAUSE * 2.0 ** min(self._failures, 16))
        asked = verdict.least_pause if announced is None else announced
        if asked is None:
            asked = 0.0 if self._failures == 0 else bound / 2
        self._failures += 1
        return asked + max(FIRST_PAUSE, bound / 2) * self._spread()
