"""Calls for scripts without asyncio: each opens a connection of its own, and closes it."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar
from urllib.parse import unquote

from .center import NotificationCenter
from .notification import JSON, Answer, Receipt, Value, Written

DEFAULT_URL = "http://127.0.0.1:8080"

Result = TypeVar("Result")


def post(
    name: str, *, url: str | None = None, token: str | None = None, **options: Any
) -> Receipt:
    """Posts a notification, with the options of `NotificationCenter.post`."""
    return _result_of(lambda center: center.post(name, **options), url, token)


def ask(
    object: str, selector: str, user_info: Mapping[str, JSON] | None = None, *,
    url: str | None = None, token: str | None = None, **options: Any,
) -> Answer:
    """Asks who holds an address, with the options of `NotificationCenter.ask`."""
    # One that fails closed has no time for a broker that hangs.
    return _result_of(
        lambda center: center.ask(object, selector, user_info, **options), url, token,
        is_patient=not options.get("fail_closed"))


def value(
    object: str, key_path: str = "", *, url: str | None = None, token: str | None = None,
    **options: Any,
) -> Value | None:
    """What is at a key path of an object's value; None where there is nothing."""
    return _result_of(lambda center: center.value(object, key_path, **options), url, token)


def set_value(
    object: str, key_path: str, value: JSON, *, url: str | None = None, token: str | None = None,
    **options: Any,
) -> Written:
    """Sets what is at a key path, with the options of `NotificationCenter.set_value`."""
    return _result_of(
        lambda center: center.set_value(object, key_path, value, **options), url, token)


def _result_of(
    call: Callable[[NotificationCenter], Awaitable[Result]], url: str | None, token: str | None,
    is_patient: bool = True,
) -> Result:
    """The result of a call to the broker that the arguments name, or the environment."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise RuntimeError("this call blocks the event loop: await that of a NotificationCenter")
    place, center = _place(url or os.environ.get("BELFRY_URL") or DEFAULT_URL)
    token = token or os.environ.get("BELFRY_TOKEN") or None

    async def result() -> Result:
        connection = NotificationCenter(place, center=center, token=token)
        await connection.__aenter__()
        try:
            found = await call(connection)
        except BaseException:
            await connection.close()
            raise
        if is_patient:
            await connection.close()
        return found

    return asyncio.run(result())


def _place(url: str) -> tuple[str, str | None]:
    """The broker and the center that a URL names, as that of the command line does."""
    found = re.fullmatch(r"(.*)/v1/centers/([^/]+)/?", url)
    return (found[1], unquote(found[2])) if found else (url, None)
