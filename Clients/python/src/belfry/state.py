"""How the connection stands."""

from dataclasses import dataclass

from .wire import JSONObject


@dataclass(frozen=True, slots=True)
class State:
    """How the connection stands."""

    name: str
    """`connecting`, `open` (all is registered and set again), `waiting`, or `closed` for good."""
    code: int | None = None
    """The close code that led here.

    1006 is a line that ended without one, 1013 a broker that was too busy.
    """
    problem: JSONObject | None = None
    """What the broker refused the connection with."""
    pause: float | None = None
    """Seconds until the next attempt, of `waiting`."""
