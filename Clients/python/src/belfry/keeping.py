"""What outlives the program: its session, in a file or in a store of the program's own."""

from __future__ import annotations

import contextlib
import json
import operator
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .handling import logger
from .observation import NotificationObservation
from .registration import Registration
from .responding import Responding
from .wire import JSONObject, text_of

SAVE_PAUSE = 1.0
"""Seconds within which it is stored how far the observers are."""

CLAIM_TIME = 10.0
"""Seconds until an observer of an earlier run is removed, if nobody adds it again."""

FILE_LIMIT = 32
"""Programs that may have one file at a time."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A session, and what it has at the broker."""

    client: str
    session: str
    epoch: str
    registrations: list[Registration]


class Store(Protocol):
    """Where a program keeps a text, such as a client of Redis."""

    def get(self, key: str, /) -> str | bytes | None:
        """The text that was set last; None where there is none."""

    def set(self, key: str, text: str, /) -> object:
        """Keeps this text in the place of an earlier one."""


class Keeping:
    """The session of a program, as it is stored.

    A store that raises is none from then on, and one that has something else counts as empty; each
    is logged once. What is stored is a secret: who has it can be this client.
    """

    def __init__(self, session: str | os.PathLike[str] | Store, key: str) -> None:
        """`key` is the address of the center, to which alone the session is shown."""
        self._file: _File | None = None
        self._store: Store | None
        if isinstance(session, (str, os.PathLike)):
            self._store = self._file = _File(Path(session))
        else:
            self._store = session
        self._key = f"belfry {key}"

    def read(self) -> Kept | None:
        """What an earlier run has stored, if anything."""
        if self._store is None:
            return None
        try:
            text = self._store.get(self._key)
        except Exception as fault:
            self._end(fault)
            return None
        if not text:
            return None
        try:
            document = json.loads(text)
            if document["key"] != self._key:
                return None
            return Kept(
                _text(document["client"]), _text(document["session"]), _text(document["epoch"]),
                [_registration(record) for record in document["observers"]])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            logger.warning(
                "the session in %s is damaged, and counts as none", self._file or "the store")
            return None

    def write(
        self, client: str, session: str, epoch: str, observers: list[JSONObject]
    ) -> None:
        """Stores a session in the place of the earlier one."""
        if self._store is None:
            return
        document = {
            "key": self._key, "client": client, "session": session, "epoch": epoch,
            "observers": observers}
        try:
            self._store.set(self._key, json.dumps(document))
        except Exception as fault:
            self._end(fault)

    def close(self) -> None:
        """Leaves the session to the next run."""
        self._store = None
        if self._file is not None:
            self._file.close()

    def _end(self, fault: Exception) -> None:
        logger.warning("the session is not stored: %s", fault)
        self.close()


class _File:
    """A file that one program has at a time.

    A program that finds it taken has the next one: `name.2`, `name.3` and so on. A lock, which
    ends with the program however that ends, says that one is taken.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock: int | None = None

    def __str__(self) -> str:
        return str(self._path)

    def get(self, key: str, /) -> bytes | None:
        self._take()
        with contextlib.suppress(FileNotFoundError):
            return self._path.read_bytes()
        return None

    def set(self, key: str, text: str, /) -> None:
        # A program that is killed meanwhile leaves the file as it was.
        new = self._path.with_name(f"{self._path.name}.new")
        number = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(number, "w", encoding="utf-8") as file:
            file.write(text)
        new.replace(self._path)

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _take(self) -> None:
        first = self._path
        for count in range(1, FILE_LIMIT + 1):
            path = first if count == 1 else first.with_name(f"{first.name}.{count}")
            self._lock = _locked(path.with_name(f"{path.name}.lock"))
            if self._lock is not None:
                self._path = path
                return
        raise OSError(f"{FILE_LIMIT} programs use {first}: give some of them another file")


def _locked(path: Path) -> int | None:
    """The descriptor of a lock; None where another program has it."""
    number = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        import fcntl
    except ImportError:
        # Without locks the broker tells two programs apart: it ends the connection of one.
        return number
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(number)
        return None
    return number


def _registration(record: JSONObject) -> Registration:
    kind = Responding if "selectors" in record else NotificationObservation
    registration = kind.restored(record)
    text_of({**registration.terms, **registration.params()})
    registration.restore(
        _text(record["id"]), _text(record["token"]), operator.index(record["position"]))
    return registration


def _text(found: Any) -> str:
    if not isinstance(found, str):
        raise TypeError(f"{found!r} is no text")
    return found
