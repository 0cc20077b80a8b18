"""What a client has at the broker for as long as it is there: it is made again for a new client."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from .errors import BelfryError, Refused
from .wire import JSONObject, merged

LASTING_LIMIT = 1_000
"""Writes with a lease, and posts on a disconnect, that are made again."""

PRECONDITION_STATUS = 412

Call = Callable[[str, JSONObject], Awaitable[Any]]
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lease:
    """A value that has a lease."""

    params: JSONObject
    etag: str | None
    """The tag of what was written; None where it is not known."""
    until: float | None
    """When its `ttl` is over."""
    is_written: bool = False
    """Whether the broker has confirmed it."""


@dataclass(slots=True)
class Farewell:
    """A post for the disconnect of the client."""

    params: JSONObject
    id: str
    """What it is called now; the program knows the first one."""


class Lasting:
    """Writes with a lease, and posts on a disconnect."""

    def __init__(self) -> None:
        self._leases: dict[Path, Lease] = {}
        self._farewells: dict[str, Farewell] = {}

    # What the program does.

    def write(self, method: str, params: JSONObject) -> Callable[[Any, BaseException | None], None]:
        """A write begins, and takes away what has a lease at its place and below it.

        Answers what is told of its end: the answer, or the error.
        """
        params = {
            key: value for key, value in params.items() if key not in ("ifMatch", "ifNoneMatch")}
        path = _path(params)
        overwritten = {
            place: lease for place, lease in self._leases.items()
            if _ends(place, path, method, params)}
        for place in overwritten:
            del self._leases[place]
        begun = None
        if "lease" in params:
            until = time.monotonic() + params["ttl"] if "ttl" in params else None
            begun = Lease(params, None, until)
            _put(self._leases, path, begun)

        def ended(answer: Any, error: BaseException | None) -> None:
            if error is None:
                if begun is not None and self._leases.get(path) is begun:
                    self._leases[path] = replace(begun, etag=answer.get("etag"), is_written=True)
                self._follow(path, method, params)
                return
            if begun is not None and self._leases.get(path) is begun:
                del self._leases[path]
            if isinstance(error, Refused) or begun is not None:
                # Nobody knows whether a lost write has happened: the tag of the earlier one says.
                self._leases = {**overwritten, **self._leases}
        return ended

    def _follow(self, path: Path, method: str, params: JSONObject) -> None:
        """A write below an entry has changed what is there; a patch above it may have."""
        patch = None if method == "removeValue" else params.get("value", params.get("patch"))
        for place, lease in list(self._leases.items()):
            value = lease.params["value"]
            if _is_below(path, place) and path != place:
                keys = path[len(place):]
                if method == "setValue":
                    # It takes the place of what was there, also of members that it does not have.
                    value = merged(value, _nested(keys, None))
                value = merged(value, _nested(keys, patch))
            elif method == "mergeValue" and _is_below(place, path) and path != place:
                part = patch
                for key in place[len(path):]:
                    part = part.get(key) if isinstance(part, dict) else None
                if not isinstance(part, dict):
                    continue
                value = merged(value, part)
            else:
                continue
            self._leases[place] = replace(
                lease, params={**lease.params, "value": value}, etag=None)

    def posted(self, id: str, params: JSONObject) -> None:
        """A post for the disconnect was made."""
        kept = {key: value for key, value in params.items() if key != "idempotencyKey"}
        _put(self._farewells, id, Farewell(kept, id))

    def dequeued(self, id: str | None, name: str | None, object: str | None) -> str | None:
        """Posts are taken out of the queue; answers the id that is meant."""
        if id is not None:
            known = self._farewells.pop(id, None)
            return id if known is None else known.id
        for key, farewell in list(self._farewells.items()):
            params = farewell.params
            if name in (None, params["name"]) and object in (None, params.get("object")):
                del self._farewells[key]
        return None

    # What is made again.

    async def make_again(self, call: Call, away: float | None) -> None:
        """Makes all of it again by calls.

        `away` is for how many seconds a session that goes on had no connection; None is a new
        client.
        """
        # All at once, in their order: calls wait for the last of them.
        await asyncio.gather(*(
            self._set_again(place, lease, call)
            for place, lease in list(self._leases.items()) if lease.is_written))
        for key, farewell in list(self._farewells.items()):
            # One of a session that goes on may be there still.
            if away is None or away >= farewell.params.get("after", 0):
                await self._post_again(key, farewell, call, is_kept=away is not None)

    async def _set_again(self, place: Path, lease: Lease, call: Call) -> None:
        """Sets a value again, unless somebody else has set it meanwhile."""
        conditions = [{}] if lease.etag is None else [
            {"ifMatch": lease.etag}, {"ifNoneMatch": "*"}]
        for condition in conditions:
            if self._leases.get(place) is not lease:
                return
            params = {**lease.params, **condition}
            if lease.until is not None:
                params["ttl"] = lease.until - time.monotonic()
                if params["ttl"] <= 0:
                    break
            try:
                answer = await call("setValue", params)
            except BelfryError as error:
                if not isinstance(error, Refused) or _is_passing(error):
                    # The next connection tries again.
                    return
                if error.status != PRECONDITION_STATUS:
                    break
            else:
                if self._leases.get(place) is lease:
                    self._leases[place] = replace(lease, etag=answer.get("etag"))
                return
        if self._leases.get(place) is lease:
            del self._leases[place]

    async def _post_again(self, key: str, farewell: Farewell, call: Call, is_kept: bool) -> None:
        try:
            if is_kept:
                await _quietly(call("dequeue", {"id": farewell.id}))
            if self._farewells.get(key) is not farewell:
                return
            farewell.id = (await call("post", farewell.params))["id"]
            if self._farewells.get(key) is not farewell:
                await call("dequeue", {"id": farewell.id})
        except BelfryError as error:
            if isinstance(error, Refused) and not _is_passing(error):
                self._farewells.pop(key, None)


async def _quietly(work: Awaitable[Any]) -> None:
    try:
        await work
    except Refused:
        # It is there no more.
        pass


def _put(kept: dict[Any, Any], key: Any, value: Any) -> None:
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > LASTING_LIMIT:
        del kept[next(iter(kept))]


def _is_passing(error: BelfryError) -> bool:
    """Whether a refusal is about the broker as it is now."""
    return (error.status or 0) >= 500 or error.status == 429


def _path(params: JSONObject) -> Path:
    """Where a value is, as the keys to it, of which the first is the object."""
    key_path = params.get("keyPath", "")
    return (params["object"], *(key_path.split(".") if key_path else ()))


def _is_below(place: Path, other: Path) -> bool:
    """Whether a place is another one, or below it."""
    return place[:len(other)] == other


def _ends(place: Path, path: Path, method: str, params: JSONObject) -> bool:
    """Whether a write takes the lease away: it is at that place or above it, and a patch has it."""
    if not _is_below(place, path):
        return False
    if method != "mergeValue" or place == path:
        return True
    patch = params["patch"]
    for key in place[len(path):]:
        if not isinstance(patch, dict):
            return True
        if key not in patch:
            return False
        patch = patch[key]
    return not isinstance(patch, dict)


def _nested(keys: Path, value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value
