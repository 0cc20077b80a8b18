"""What the broker is shown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable

Credentials = str | Callable[[], str | Awaitable[str]] | None
"""A key or a JWT, or a function that answers one, or a coroutine of one; None for nothing."""


class Tokens:
    """The token for each connection."""

    def __init__(self, credentials: Credentials) -> None:
        if isinstance(credentials, str):
            _checked(credentials)
        self._credentials = credentials

    @property
    def can_change(self) -> bool:
        """Whether another token may come after one that is not good."""
        return callable(self._credentials)

    async def next(self) -> str | None:
        """The token for a new connection; raises what the program's function raises."""
        if not callable(self._credentials):
            return self._credentials
        token = self._credentials()
        return _checked(await token if inspect.isawaitable(token) else token)


def _checked(token: str) -> str:
    # It becomes the value of a field.
    if not re.fullmatch("[!-~]{1,8192}", token):
        raise ValueError("a token is 1 to 8,192 visible ASCII characters")
    return token
