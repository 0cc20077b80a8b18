"""JSON as the broker speaks it."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

JSONObject = dict[str, Any]
Since = int | str | datetime
Where = Mapping[str, Any] | Sequence[Mapping[str, Any]]

NOT_GIVEN: Any = object()
"""What an option is that may be null, and was not given."""


def text_of(message: JSONObject) -> str:
    """The message as JSON.

    Raises TypeError or ValueError where it has something that is no JSON.
    """
    text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Half of a surrogate pair is no text.
    text.encode()
    return text


def given(**options: Any) -> JSONObject:
    """The options that are given, in the broker's names: what is None or False is not given."""
    return {
        camel(name): value for name, value in options.items() if value is not None
        and value is not False and value is not NOT_GIVEN
    }


def add_lease(params: JSONObject, lease: float | None) -> None:
    """A lease of None is one without an end, and is said."""
    if lease is not NOT_GIVEN:
        params["lease"] = lease


def members(user_info: Mapping[str, Any] | None) -> JSONObject | None:
    """A userInfo as a JSON object."""
    if user_info is None:
        return None
    if not isinstance(user_info, Mapping):
        raise TypeError(
            f'user_info is a mapping, such as {{"text": "hi"}}, and not {user_info!r}')
    return dict(user_info)


def camel(name: str) -> str:
    """`caused_by` as the broker calls it: `causedBy`."""
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


def filter_of(
    name: str | None, names: Sequence[str] | None, name_prefix: str | None, object: str | None,
    object_prefix: str | None, where: Where | None,
) -> JSONObject:
    """The members that say what an observer is registered for; None is any.

    What is given twice, such as a name and a prefix, goes to the broker, which refuses it.
    """
    if isinstance(names, str):
        raise TypeError("names are several, such as ['Order', 'Refund']")
    if isinstance(where, str):
        raise TypeError('where is a mapping, such as {"vip": True}, or a list of them, and no text')
    condition = None if where is None else (
        dict(where) if isinstance(where, Mapping) else [dict(each) for each in where])
    filter = given(
        names=None if names is None else list(names), name_prefix=name_prefix,
        object_prefix=object_prefix, where=condition)
    if name is not None or not filter.keys() & {"names", "namePrefix"}:
        filter["name"] = name
    if object is not None or "objectPrefix" not in filter:
        filter["object"] = object
    return filter


def beginning_of(
    since: Since | None, last: int | None, last_each: int | None
) -> JSONObject:
    """The member that says where in the past an observer begins; more than one is refused."""
    if isinstance(since, bool):
        raise TypeError("since is a number, a time or 'oldest'")
    return {
        name: value for name, value in (
            ("since", time_of(since)), ("last", last), ("lastEach", last_each))
        if value is not None}


def time_of(time: Any) -> Any:
    """A time as the broker has it; anything else is as it is."""
    if not isinstance(time, datetime):
        return time
    if time.tzinfo is None:
        raise ValueError(f"{time} has no time zone: say datetime.now(UTC)")
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def place(object: str, key_path: str) -> JSONObject:
    """The members that say where a value is; the whole has no key path."""
    return {"object": object, "keyPath": key_path} if key_path else {"object": object}


def merged(value: Any, patch: Any) -> Any:
    """A value after a merge patch (RFC 7396); the value itself stays as it is."""
    if not isinstance(patch, dict):
        return patch
    members = dict(value) if isinstance(value, dict) else {}
    for key, change in patch.items():
        if change is None:
            members.pop(key, None)
        else:
            members[key] = merged(members.get(key), change)
    return members


def is_same(left: Any, right: Any) -> bool:
    """Whether two values are the same JSON, in whatever order their members are."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(is_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(is_same, left, right))
    # True is 1 to Python, and is not to JSON.
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)
