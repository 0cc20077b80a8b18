"""JSON as the broker speaks it."""

import json
from typing import Any

JSONObject = dict[str, Any]

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


def camel(name: str) -> str:
    """`caused_by` as the broker calls it: `causedBy`."""
    first, *others = name.split("_")
    return first + "".join(other.capitalize() for other in others)


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
