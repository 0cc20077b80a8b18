"""The pauses between two connections."""

import random
from collections.abc import Callable

FIRST_PAUSE = 0.5
PAUSE_LIMIT = 30.0
"""Seconds: the bound of the first pause but one, and the bound of its doubling."""

STEADY_TIME = 10.0
"""A connection that lasts for so many seconds was a good one: the pauses begin anew."""

OVERLOAD_CODES = frozenset({1013, 4008})
"""The close codes of a broker, or of a connection, that has too much to do."""

OVERLOAD_FAILURES = 4
"""How many failures one of these codes counts as, at least."""


class BackOff:
    """Doubles the pause after each connection that did not last, and spreads it.

    So the clients of a restarted broker do not all come back in the same moment.
    """

    def __init__(self, spread: Callable[[], float] = random.random) -> None:
        self._spread = spread
        self._failures = 0

    def pause(self, lasted: float, code: int | None, announced: float | None) -> float:
        """Seconds until the next attempt, after a connection that `lasted` so long.

        `code` is how it ended, and `announced` the pause that the broker asked for.
        """
        self._failures = 0 if lasted > STEADY_TIME else self._failures + 1
        if code in OVERLOAD_CODES:
            self._failures = max(self._failures, OVERLOAD_FAILURES)
        bound = min(PAUSE_LIMIT, FIRST_PAUSE * 2.0 ** min(self._failures, 16))
        least = bound / 2 if announced is None else announced
        return least + bound / 2 * self._spread()
