"""Patterns of JSON, in which a text that begins with `$` stands for what is not known before."""

ABSENT = object()
"""What a member has that is not there."""


def fault(pattern, value, names, place="it"):
    """Why the value is not what the pattern says; None when it is. Names are bound in `names`."""
    match pattern:
        case str() if pattern.startswith("$"):
            return _placeholder_fault(pattern, value, names, place)
        case None:
            return None if value is None or value is ABSENT else f"{place} is not null: {value!r}"
        case dict():
            if not isinstance(value, dict):
                return f"{place} is not an object: {_shown(value)}"
            members = ((key, value.get(key, ABSENT)) for key in pattern)
            return _first(
                fault(pattern[key], found, names, f"{place}.{key}") for key, found in members)
        case list():
            if not isinstance(value, list) or len(value) != len(pattern):
                return f"{place} is not a list of {len(pattern)}: {_shown(value)}"
            return _first(
                fault(wanted, found, names, f"{place}[{index}]")
                for index, (wanted, found) in enumerate(zip(pattern, value, strict=True)))
        case _:
            # True is 1 to Python.
            is_same = pattern == value and isinstance(pattern, bool) == isinstance(value, bool)
            return None if is_same else f"{place} is {_shown(value)} in place of {pattern!r}"


def filled(pattern, names):
    """The pattern with what its names are bound to."""
    match pattern:
        case str() if pattern.startswith("$"):
            return names[pattern]
        case dict():
            return {key: filled(value, names) for key, value in pattern.items()}
        case list():
            return [filled(value, names) for value in pattern]
        case _:
            return pattern


def _placeholder_fault(pattern, value, names, place):
    if pattern == "$absent":
        return None if value is ABSENT else f"{place} is there: {_shown(value)}"
    if value is ABSENT:
        return f"{place} is missing"
    if pattern != "$any" and names.setdefault(pattern, value) != value:
        return f"{place} is {_shown(value)} in place of {names[pattern]!r}, which is {pattern}"
    return None


def _first(faults):
    return next((found for found in faults if found is not None), None)


def _shown(value):
    return "absent" if value is ABSENT else repr(value)
