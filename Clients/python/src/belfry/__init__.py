"""Client of Belfry, a broker of notifications.

    async with NotificationCenter("http://127.0.0.1:8080") as center:
        receipt = await center.post("ButtonChange", object="7", user_info={"row": 1})
        async for notification in center.notifications("ButtonChange"):
            ...

Scripts need no asyncio: `belfry.post`, `ask`, `value` and `set_value` open a connection each.
"""

from .blocking import ask, post, set_value, value
from .center import NotificationCenter
from .errors import (
    BelfryError,
    Closed,
    ConnectionLost,
    ObserverRemoved,
    Refusal,
    Refused,
    TimedOut,
    Unreachable,
)
from .mailboxes import Mailbox
from .notification import (
    Answer,
    Archive,
    Change,
    Gap,
    ModeLease,
    Notification,
    Page,
    Receipt,
    Value,
    Written,
)
from .observer import Observer, Responder, Token
from .responding import Ask
from .state import State

__all__ = [
    "Answer", "Archive", "Ask", "BelfryError", "Change", "Closed", "ConnectionLost", "Gap",
    "Mailbox", "ModeLease", "Notification", "NotificationCenter", "Observer", "ObserverRemoved",
    "Page", "Receipt", "Refusal", "Refused", "Responder", "State", "TimedOut", "Token",
    "Unreachable", "Value", "Written", "ask", "post", "set_value", "value",
]
