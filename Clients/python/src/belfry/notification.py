"""What a program is told, and what its calls answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

JSON = Any
"""What `json` makes of JSON."""


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification that an observer got."""

    id: str
    seq: int
    name: str
    object: str | None
    user_info: dict[str, JSON] | None
    posted_at: str | None
    redelivered: bool
    """It may have come before: over an earlier connection, or to an earlier run of the program."""
    raw: dict[str, JSON] = field(repr=False, compare=False)
    """All that the broker has sent."""

    @classmethod
    def of(cls, params: dict[str, JSON], **more: Any) -> Self:
        return cls(
            id=params.get("id", ""), seq=params["seq"], name=params.get("name", ""),
            object=params.get("object"), user_info=params.get("userInfo"),
            posted_at=params.get("postedAt"), redelivered=params.get("redelivered", False),
            raw=params, **more)


@dataclass(frozen=True, slots=True)
class Change(Notification):
    """A change of a value that is observed, with the whole of it afterwards."""

    key_path: str
    value: JSON
    """The value at the key path; None where there is none. It is not the program's to change."""
    kind: str
    """`set`, `merge` or `removed`."""
    initial: bool
    """It is the value as it is, and no change."""
    old: JSON
    """What was there, for an observer with `old`."""
    etag: str | None
    """The tag of what is there now, where the broker says it."""


@dataclass(frozen=True, slots=True)
class Gap:
    """What an observer lost."""

    reason: str
    """`dropped`, `coalesced`, `overflow`, `expired` or `unknown`."""
    lost: int | None
    """How many; None where nobody knows."""
    first_seq: int | None = None
    last_seq: int | None = None

    @classmethod
    def of(cls, params: dict[str, JSON]) -> Gap:
        return cls(
            params.get("reason", "unknown"), params.get("lost"), params.get("firstSeq"),
            params.get("lastSeq"))


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a post. One that waits in the queue has no counts but an `outcome`."""

    id: str
    seq: int | None
    outcome: str | None
    """`queued` or `coalesced`, of a post that waits in the queue."""
    into: str | None
    """The id of the one that stands for it."""
    due_at: str | None
    matched: int
    delivered: int
    held: int
    coalesced: int
    dropped: int
    acknowledged: int
    refused: int
    pending: int
    dequeued: int
    kept: bool
    """Whether an archive keeps it."""
    observers: list[dict[str, JSON]]
    """A row for each observer, with `report="observers"`."""

    @classmethod
    def of(cls, answer: dict[str, JSON]) -> Receipt:
        counts = {
            name: answer.get(name, 0)
            for name in (
                "matched", "delivered", "held", "coalesced", "dropped", "acknowledged", "refused",
                "pending", "dequeued")
        }
        return cls(
            id=answer.get("id", ""), seq=answer.get("seq"), outcome=answer.get("outcome"),
            into=answer.get("into"), due_at=answer.get("dueAt"), kept=answer.get("kept", False),
            observers=answer.get("observers") or [], **counts)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to an ask. One that was made with `ttl` may have an `outcome` in its place."""

    id: str
    answer: JSON
    by: str | None
    """`responder`, `default`, or `asker`: the default of an ask that fails closed."""
    observer: str | None
    """Who has answered."""
    answered_by: str | None
    """The principal of who has answered."""
    reason: str | None
    """Why it is the default, or what the responder said besides."""
    path: list[str]
    """The addresses that were asked."""
    outcome: str | None
    """`asked`: nobody has answered yet."""

    @classmethod
    def of(cls, answer: dict[str, JSON]) -> Answer:
        return cls(
            id=answer.get("id", ""), answer=answer.get("answer"), by=answer.get("by"),
            observer=answer.get("observer"), answered_by=answer.get("answeredBy"),
            reason=answer.get("reason"), path=answer.get("path") or [],
            outcome=answer.get("outcome"))


@dataclass(frozen=True, slots=True)
class Value:
    """What is at a key path of an object's value."""

    value: JSON
    etag: str
    seq: int


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a write to a value."""

    changed: bool
    """Whether it made a difference; one that did not is told to nobody."""
    etag: str | None
    """The tag of what is there now; None where nothing is."""
    seq: int | None
    id: str | None
    matched: int

    @classmethod
    def of(cls, answer: dict[str, JSON]) -> Written:
        return cls(
            changed=answer.get("changed", False), etag=answer.get("etag"), seq=answer.get("seq"),
            id=answer.get("id"), matched=answer.get("matched", 0))


@dataclass(frozen=True, slots=True)
class Archive:
    """What a center keeps of a channel, or of all whose names begin alike."""

    name: str | None
    name_prefix: str | None
    count: int | None
    bytes: int
    age: float | None
    each: str
    """What `count` and `keep_last` count: `name`, or `object` for each name and object."""
    keep_last: int
    stored: bool
    since: int
    """The last number before it began."""
    kept: int | None
    """How many notifications it keeps; None in the answer to making it."""
    kept_bytes: int | None

    @classmethod
    def of(cls, row: dict[str, JSON]) -> Archive:
        return cls(
            name=row.get("name"), name_prefix=row.get("namePrefix"), count=row.get("count"),
            bytes=row["bytes"], age=row.get("age"), each=row.get("each", "name"),
            keep_last=row.get("keepLast", 0), stored=row.get("stored", False),
            since=row["since"], kept=row.get("kept"), kept_bytes=row.get("keptBytes"))


@dataclass(frozen=True, slots=True)
class Page:
    """A page of what is kept."""

    notifications: list[Notification]
    gaps: list[Gap]
    """What is lost behind `after`."""
    next: int | None
    """The `after` of the next page or, newest first, its `before`; None on the last one."""
    seq: int
    """The number from which an observer goes on without a hole (`since`)."""
    epoch: str

    @classmethod
    def of(cls, answer: dict[str, JSON]) -> Page:
        return cls(
            notifications=[Notification.of(row) for row in answer["notifications"]],
            gaps=[Gap.of(gap) for gap in answer.get("gaps") or []], next=answer.get("next"),
            seq=answer["seq"], epoch=answer["epoch"])


@dataclass(frozen=True, slots=True)
class ModeLease:
    """A mode of the queue that was entered."""

    id: str
    mode: str
    token: str = field(repr=False)
