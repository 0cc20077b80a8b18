#!/usr/bin/env python3
"""Conditions on userInfo, evaluated here and by the engine: do both say the same of random pairs?

    Tests/Where/where.py PROGRAM [--pairs 20000] [--seed 1]

PROGRAM is belfry-where. A pair is a userInfo and a condition on it. Both are made of few keys and values, written in
many ways, so that each operator is true and false about as often; some conditions have a fault, whose pointer must be
the same. What is evaluated here goes by dictionaries of the standard library and by exact decimals of any length.

Exit code 0 when both agree on all pairs, and each operator was true and false once in a hundred pairs at least.
"""

import argparse
import collections
import decimal
import json
import random
import subprocess
import sys
import tempfile


# --- What a text says -------------------------------------------------------------------------------------------------


class Number:
    """A number as the decimal that it is; none where its exponent has more than nine digits."""

    def __init__(self, text):
        digits = text.lower().partition("e")[2].lstrip("+-")
        self.value = decimal.Decimal(text) if len(digits) <= 9 else None


class Pairs(list):
    """The members of an object in the order of the text, with those that come twice."""


def parse(text, hook):
    return json.loads(text, object_pairs_hook=hook, parse_int=Number, parse_float=Number)


def is_torn(text):
    """Whether a string has half a surrogate pair."""
    return any("\ud800" <= character <= "\udfff" for character in text)


# --- Faults -----------------------------------------------------------------------------------------------------------


class Fault(Exception):
    pass


OPERATORS = ["above", "atLeast", "below", "atMost", "prefix", "suffix", "contains", "exists", "not"]


class Checker:
    """Finds the first fault of a condition."""

    def __init__(self):
        self.rest = 32

    def whole(self, where):
        if isinstance(where, Pairs):
            return self.alternative(where, "")
        if not isinstance(where, list) or not where:
            raise Fault("")
        for place, alternative in enumerate(where):
            if place == 16:
                raise Fault("")
            if not isinstance(alternative, Pairs):
                raise Fault(f"/{place}")
            self.alternative(alternative, f"/{place}")

    def members(self, pairs, pointer):
        if not pairs:
            raise Fault(pointer)
        seen = set()
        for key, value in pairs:
            if is_torn(key):
                raise Fault(pointer)
            place = pointer + "/" + key.replace("~", "~0").replace("/", "~1")
            yield key, value, place, key in seen
            seen.add(key)

    def alternative(self, pairs, pointer):
        for key, value, place, is_twice in self.members(pairs, pointer):
            keys = key.split(".")
            if is_twice or "" in keys or len(keys) > 16 or len(key.encode()) > 1024:
                raise Fault(place)
            if isinstance(value, Pairs):
                self.operators(value, place, False)
            else:
                self.count(place)
                self.scalars(value, place)

    def count(self, place):
        self.rest -= 1
        if self.rest < 0:
            raise Fault(place)

    def operators(self, pairs, pointer, is_in_not):
        for name, value, place, is_twice in self.members(pairs, pointer):
            if name not in OPERATORS or is_twice:
                raise Fault(place)
            self.count(place)
            if name == "not" and is_in_not:
                raise Fault(place)
            if name == "not" and isinstance(value, Pairs):
                self.operators(value, place, True)
            elif name == "not":
                self.scalars(value, place)
            elif name == "exists":
                if not isinstance(value, bool):
                    raise Fault(place)
            elif name in ("prefix", "suffix"):
                if not isinstance(value, str):
                    raise Fault(place)
                self.scalar(value, place)
            elif name == "contains":
                if value is None:
                    raise Fault(place)
                self.scalar(value, place)
            else:
                if not isinstance(value, Number):
                    raise Fault(place)
                self.scalar(value, place)

    def scalars(self, value, place):
        if not isinstance(value, list) or isinstance(value, Pairs):
            return self.scalar(value, place)
        if not value:
            raise Fault(place)
        for number, element in enumerate(value):
            if number == 64:
                raise Fault(place)
            self.scalar(element, f"{place}/{number}")

    def scalar(self, value, place):
        if isinstance(value, list):
            raise Fault(place)
        if isinstance(value, str) and is_torn(value):
            raise Fault(place)
        if isinstance(value, Number) and value.value is None:
            raise Fault(place)


def pointer_to_fault(where):
    try:
        Checker().whole(where)
    except Fault as fault:
        return fault.args[0]
    return None


# --- Truth ------------------------------------------------------------------------------------------------------------

counts = collections.Counter()


def note(name, holds):
    counts[name, holds] += 1
    return holds


def value_at(user_info, path):
    value = user_info
    for key in path.split("."):
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value


def equals(value, wanted):
    if isinstance(value, bool) or isinstance(wanted, bool) or value is None or wanted is None:
        return value is wanted
    if isinstance(value, Number) and isinstance(wanted, Number):
        return value.value is not None and value.value == wanted.value
    return isinstance(value, str) and isinstance(wanted, str) and value == wanted and not is_torn(value)


def is_one_of(value, wanted):
    if not isinstance(wanted, list):
        return note("null" if wanted is None else "equal", equals(value, wanted))
    return note("array", any(equals(value, one) for one in wanted))


def order(value, wanted):
    """Below 0, 0 or above 0; nothing for what is no number."""
    if not isinstance(value, Number) or value.value is None:
        return None
    return (value.value > wanted.value) - (value.value < wanted.value)


def fulfils(value, name, wanted):
    text = value if isinstance(value, str) and not is_torn(value) else None
    if name == "not":
        inner = all_of(value, wanted) if isinstance(wanted, Pairs) else is_one_of(value, wanted)
        return note(name, not inner)
    if name == "exists":
        return note(f"exists {wanted}".lower(), (value is not None) == wanted)
    if name == "prefix":
        return note(name, text is not None and text.startswith(wanted))
    if name == "suffix":
        return note(name, text is not None and text.endswith(wanted))
    if name == "contains":
        if isinstance(value, list):
            return note("contains, of an array", any(equals(one, wanted) for one in value))
        return note(name, text is not None and isinstance(wanted, str) and wanted in text)
    relation = order(value, wanted)
    if relation is None:
        return note(name, False)
    holds = {"above": relation > 0, "atLeast": relation >= 0, "below": relation < 0, "atMost": relation <= 0}
    return note(name, holds[name])


def all_of(value, pairs):
    return all([fulfils(value, name, wanted) for name, wanted in pairs])


def is_true(where, user_info):
    alternatives = [where] if isinstance(where, Pairs) else where
    return any(
        [
            all(
                [
                    all_of(value_at(user_info, path), wanted)
                    if isinstance(wanted, Pairs)
                    else is_one_of(value_at(user_info, path), wanted)
                    for path, wanted in alternative
                ]
            )
            for alternative in alternatives
        ]
    )


# --- Random texts -----------------------------------------------------------------------------------------------------

KEYS = ["a", "b", "c", "é", "a key of some length", "a key of same length", "eightby", "eightbyte", "~/", '"\\', "A"]
STRINGS = ["", "a", "aa", "aab", "aabaab", "open", "é", "e\u0301", "😀", "1", "true", "null", "a\nb", '"\\/', "\0"]
STRINGS += ["aaab", "abacabacabab", "eight by", "eight bytes", "eight bytes and", "x" * 40, "x" * 40 + "y"]
NUMBERS = ["0", "1", "2", "10", "100", "0.1", "0.5", "9007199254740992", "9007199254740993", "1e999999999"]
NUMBERS += ["1e-999999999", "123456789012345678901234567890", "100.0000000000000000001", "99.999", "1e400"]
TORN = ['"\\ud800"', '"a\\udfffb"', '"\\ud83d\\ud83d\\ude00"']
WILD = ["1e1000000000", "-1e-1234567890", "0e0000000000", "1E+0000000001"]
LETTERS = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "/": "/", '"': '"', "\\": "\\"}


class Maker:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.one_in = lambda count: self.dice.random() * count < 1

    def blank(self):
        return self.dice.choice([" ", "  ", "\t", "\r"]) if self.one_in(20) else ""

    def string(self, text):
        """A string, some or all of whose characters are escaped."""
        escapes = self.dice.choice([0, 0, 0, 0.3, 1])
        parts = []
        for character in text:
            if escapes <= self.dice.random() and character >= " " and character not in '"\\':
                parts.append(character)
            elif character in LETTERS and self.one_in(2):
                parts.append("\\" + LETTERS[character])
            else:
                units = character.encode("utf-16-be")
                for place in range(0, len(units), 2):
                    form = self.dice.choice(["%04x", "%04X"])
                    parts.append("\\u" + form % int.from_bytes(units[place : place + 2], "big"))
        return '"' + "".join(parts) + '"'

    def number(self, value):
        """A number, written in one of its ways."""
        sign, digits, exponent = value.as_tuple()
        digits = "".join(map(str, digits))
        zeros = self.dice.choice([0, 0, 0, 1, 5])
        digits = "0" * self.dice.choice([0, 0, 3]) + digits + "0" * zeros
        point = self.dice.randrange(len(digits) + 1) if self.one_in(2) else len(digits)
        whole, rest = digits[:point].lstrip("0") or "0", digits[point:]
        exponent += len(rest) - zeros
        if abs(exponent) > 999_999_999:
            return str(value).replace("E+", "e")
        text = ("-" if sign or (value == 0 and self.one_in(2)) else "") + whole + ("." + rest if rest else "")
        if exponent == 0 and self.one_in(2):
            return text
        written = "0" * self.dice.choice([0, 0, 1]) + str(abs(exponent))
        mark = "-" if exponent < 0 else self.dice.choice(["", "+"])
        return text + self.dice.choice("eE") + mark + written[-9:]

    def random_number(self):
        value = decimal.Decimal(self.dice.choice(NUMBERS))
        if self.one_in(4):
            value = value.copy_negate()
        if self.one_in(10):
            sign, digits, exponent = value.as_tuple()
            value = decimal.Decimal((sign, digits + (0, 0, 1), exponent - 3))
        return self.number(value)

    def scalar(self):
        kind = self.dice.random()
        if kind < 0.4:
            return self.string(self.dice.choice(STRINGS))
        if kind < 0.85:
            return self.random_number()
        return self.dice.choice(["true", "false", "null"])

    def list_of(self, items, brackets="[]"):
        text = ",".join(self.blank() + item + self.blank() for item in items)
        return brackets[0] + (text or self.blank()) + brackets[1]

    def member(self, key, value):
        return key + self.blank() + ":" + self.blank() + value

    def value(self, depth):
        kind = self.dice.random()
        if kind < 0.6 or depth == 0:
            return self.dice.choice(TORN + WILD) if self.one_in(20) else self.scalar()
        if kind < 0.8:
            return self.list_of([self.value(depth - 1) for _ in range(self.dice.choice([0, 1, 2, 5]))])
        return self.object(depth - 1)

    def object(self, depth):
        members = []
        for _ in range(self.dice.choice([0, 1, 3, 5, 8])):
            key = self.dice.choice(TORN + ['""', '"a.b"']) if self.one_in(30) else self.string(self.dice.choice(KEYS))
            members.append(self.member(key, self.value(depth)))
        return self.list_of(members, "{}")

    def user_info(self):
        if self.one_in(100):
            return self.value(2)
        text = self.object(3)
        if self.one_in(5):
            # So many members that a table finds them, in front or behind.
            many = ",".join(f'"m{place}":{place}' for place in range(self.dice.choice([24, 40, 200])))
            inner = text[1:-1]
            comma = "," if inner.strip() else ""
            text = "{" + (many + comma + inner if self.one_in(2) else inner + comma + many) + "}"
        return text

    # --- Conditions ---------------------------------------------------------------------------------------------------

    def path(self, user_info):
        """The path to a value, mostly one that is there, with that value."""
        keys, value = [], user_info
        while isinstance(value, dict) and len(keys) < 4 and (not keys or self.one_in(1.5)):
            known = [key for key in value if key and "." not in key and not is_torn(key)]
            if not known or self.one_in(8):
                keys.append(self.dice.choice(KEYS))
                return ".".join(keys), None
            keys.append(self.dice.choice(known))
            value = value[keys[-1]]
        return ".".join(keys) or "a", value if keys else None

    def operand(self, value):
        """A scalar, mostly one that is equal to the value or near it."""
        if isinstance(value, list) and value and self.one_in(1.5):
            value = self.dice.choice(value)
        if isinstance(value, str) and not is_torn(value) and self.one_in(1.5):
            return self.string(value)
        if isinstance(value, Number) and value.value is not None and self.one_in(1.5):
            return self.number(value.value)
        if (value is None or isinstance(value, bool)) and self.one_in(1.5):
            return json.dumps(value)
        return self.scalar()

    def number_operand(self, value):
        if isinstance(value, Number) and value.value is not None and self.one_in(3):
            return self.number(value.value)
        return self.random_number()

    def string_operand(self, value, name):
        if not isinstance(value, str) or is_torn(value) or self.one_in(3):
            return self.string(self.dice.choice(STRINGS))
        start, end = sorted(self.dice.randrange(len(value) + 1) for _ in range(2))
        return self.string({"prefix": value[:end], "suffix": value[start:]}.get(name, value[start:end]))

    def operator(self, value, is_in_not):
        fitting = OPERATORS[:-1] if is_in_not else OPERATORS
        if isinstance(value, Number) and self.one_in(1.5):
            fitting = OPERATORS[:4]
        elif isinstance(value, str) and self.one_in(1.5):
            fitting = OPERATORS[4:7]
        elif isinstance(value, list) and self.one_in(1.5):
            fitting = ["contains"]
        name = self.dice.choice(fitting)
        if name == "not":
            return name, self.operators(value, True) if self.one_in(2) else self.scalars(value)
        if name == "exists":
            return name, self.dice.choice(["true", "false"])
        if name in ("prefix", "suffix") or name == "contains" and isinstance(value, str):
            return name, self.string_operand(value, name)
        if name == "contains":
            text = self.operand(value)
            return name, "0" if text == "null" else text
        return name, self.number_operand(value)

    def operators(self, value, is_in_not):
        found = dict(self.operator(value, is_in_not) for _ in range(self.dice.choice([1, 1, 1, 2, 3])))
        return self.list_of([self.member(f'"{name}"', text) for name, text in found.items()], "{}")

    def scalars(self, value):
        if self.one_in(2):
            return self.operand(value)
        return self.list_of([self.operand(value) for _ in range(self.dice.choice([1, 2, 3, 10]))])

    def alternative(self, user_info):
        members = {}
        for _ in range(self.dice.choice([1, 1, 2, 3])):
            path, value = self.path(user_info)
            members[path] = self.operators(value, False) if self.one_in(1.5) else self.scalars(value)
        return self.list_of([self.member(self.string(path), text) for path, text in members.items()], "{}")

    def where(self, user_info):
        if self.one_in(3):
            text = self.list_of([self.alternative(user_info) for _ in range(self.dice.choice([1, 2, 3]))])
        else:
            text = self.alternative(user_info)
        return self.spoiled(text) if self.one_in(20) else text

    def spoiled(self, text):
        """A condition with a fault, mostly."""
        tokens = [":", ",", "{", "}", "[", "]", '"a"', "1", "null", '"like"', '"not":', '"above":']
        faults = TORN + WILD + ["{}", "[]", "7", '"a..b":1', '{"":1}', '{"not":{"not":1}}']
        place = self.dice.randrange(len(text) + 1)
        kind = self.dice.randrange(4)
        if kind == 0:
            return text[:place] + self.dice.choice(tokens) + text[place:]
        if kind == 1:
            return text[:place] + text[place + 1 :]
        places = [index for index, character in enumerate(text) if character == ":"]
        place = self.dice.choice(places) + 1
        if kind == 2:
            return text[:place] + self.dice.choice(faults) + "," + '"z":' + text[place:]
        return text[:place] + '{"like":' + text[place:] + "}"


# --- Comparing --------------------------------------------------------------------------------------------------------


def refuse_constant(text):
    raise ValueError(text)


def expected(where, user_info):
    """What is to be said of a condition; nothing where the text is no JSON."""
    try:
        parsed = json.loads(
            where, object_pairs_hook=Pairs, parse_int=Number, parse_float=Number, parse_constant=refuse_constant
        )
    except (ValueError, RecursionError):
        return "!"
    if len(where.strip(" \t\n\r").encode()) > 4096:
        return "!"
    pointer = pointer_to_fault(parsed)
    if pointer is not None:
        return "!" + pointer
    return str(is_true(parsed, user_info)).lower()


def compare(program, maker, pair_count):
    """Compares so many pairs, and returns how many there were and how many had a fault."""
    lines, pairs = [], []
    while len(pairs) < pair_count:
        text = "" if maker.one_in(200) else maker.user_info()
        user_info = parse(text, dict) if text else None
        lines.append("u" + text)
        for _ in range(4):
            where = maker.where(user_info)
            lines.append("c" + where)
            pairs.append((text, where, expected(where, user_info)))
    with tempfile.TemporaryFile() as file:
        file.write("\n".join(lines).encode() + b"\n")
        file.seek(0)
        answers = subprocess.run([program], stdin=file, stdout=subprocess.PIPE, check=True).stdout
    answers = answers.decode().split("\n")[:-1]
    if len(answers) != len(pairs):
        sys.exit(f"error: {len(answers)} answers to {len(pairs)} pairs")
    for (text, where, wanted), answer in zip(pairs, answers):
        if answer != wanted:
            sys.exit(f"error: the engine says {answer}, and not {wanted}\nuserInfo: {text}\nwhere: {where}")
    return len(pairs), sum(wanted[0] == "!" for _, _, wanted in pairs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    maker = Maker(options.seed)
    done = faults = 0
    while done < options.pairs:
        more = compare(options.program, maker, min(50_000, options.pairs - done))
        done, faults = done + more[0], faults + more[1]
    print(f"{'condition':22} {'true':>9} {'false':>9}")
    rare = []
    for name in sorted({name for name, _ in counts}):
        print(f"{name:22} {counts[name, True]:>9} {counts[name, False]:>9}")
        if min(counts[name, True], counts[name, False]) < options.pairs // 100:
            rare.append(name)
    print(f"{done} pairs are the same, {faults} of them with a fault")
    if rare:
        sys.exit(f"error: too rare: {', '.join(rare)}")


main()
