"""What Scripts/schemathesis teaches schemathesis (SCHEMATHESIS_HOOKS names this file).

A session: `POST /v1/observers` with a session registers an observer for a client that is connected,
and what connects a client is a WebSocket, which no OpenAPI link can open. So a request that has a
well-formed session gets that of a client which this file connects: 201, and the links from there
to reading, removing and 410 can be followed. The client acknowledges what it is asked to.

What must go together: OpenAPI cannot say that a parameter needs another one, or stands without it. An
option that needs a style gets one where there is none, a `lease` gets a timer that repeats, a post has one of
`at` and `after`, and a dequeue gets the name that `coalesce` names. A `ttl` of an ask gets the preference
that it needs. Good explanations are either of a post or of an ask, and good answers to asks have content.

A place in a listing: one of a sorted page has another form than others, and neither goes with the other order. A good
listing begins with its first page.

The depth of a value: OpenAPI cannot say that it goes together with the length of the key path, so a good one
that is too deep for its path gets the first keys of it alone.

The time of a post: OpenAPI cannot say how far ahead it may be. One of a year to come is moved back.

The day of a beginning: the pattern of `since` knows no months. A day that few months have becomes the 28th.

An entity tag: where schemathesis goes through the values of a header, it makes none that needs quotation
marks, and takes a bad one for a good one instead. A good one that lacks them gets them.

What is no content: whitespace alone is a post without userInfo, so it is not the malformed content
that was wanted, and gets a brace.

The kind of a problem: all kinds have one schema, and an answer has an example of each kind that it
may be. The check `problem_kind` compares the `type` with those.

An idempotency key: a well-formed one is replaced by one for this very request, so that only a
repetition comes with the same key. All else in the request stays as it was generated.
"""

import ast
import asyncio
import builtins
import contextlib
import hashlib
import json
import os
import re
import sys
import threading
from datetime import datetime, timezone

import schemathesis
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

# Before 3.11.8 all threads count the depth of the syntax trees that they make in one place, and a
# collection of garbage lets another thread in (CPython issue 106905). Two workers of Hypothesis end
# with "AST constructor recursion depth mismatch" then. One thread at a time.
if sys.version_info < (3, 12):
    compile_lock = threading.RLock()
    compile_unlocked = builtins.compile

    def compile_locked(*arguments, **options):
        flags = arguments[3] if len(arguments) > 3 else options.get("flags", 0)
        if not flags & ast.PyCF_ONLY_AST:
            return compile_unlocked(*arguments, **options)
        with compile_lock:
            return compile_unlocked(*arguments, **options)

    builtins.compile = compile_locked

# More centers than this get no session: a broker has 1,000, and a fuzzer names a new one each time.
CENTER_LIMIT = 50
KEY = re.compile(r"[!-~]{1,255}")
NUMBER = re.compile(r"[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)?")
YEAR = re.compile(r"[0-9]{4}-")
LATE_DAY = re.compile(r"^([0-9]{4}-[0-9]{2})-(29|30|31)")
SESSION = re.compile(r"c(0|[1-9][0-9]{0,17})\.[A-Za-z0-9_-]{22,64}")

address = os.environ["BELFRY_ADDRESS"]
with open("openapi.json", encoding="utf-8") as file:
    contract = json.load(file)
TAGS = re.compile(contract["components"]["schemas"]["EntityTags"]["pattern"])
AFTER = contract["components"]["schemas"]["After"]
sessions = {}
sessions_lock = threading.Lock()
loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()


class Session:
    """A client of one center; it answers what its observers get, and forgets it."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.secret = None
        asyncio.run_coroutine_threadsafe(self.open(), loop).result(timeout=10)

    async def open(self):
        url = f"ws://{address}{self.prefix}/ws"
        # The broker pings; a busy machine must not make this side give up.
        socket = await connect(url, subprotocols=["belfry.v1"], ping_interval=None, proxy=None)
        self.secret = json.loads(await socket.recv())["params"]["session"]
        self.reading = loop.create_task(self.read(socket))

    async def read(self, socket):
        with contextlib.suppress(WebSocketException):
            async for text in socket:
                frame = json.loads(text)
                if "id" in frame and "method" in frame:
                    answer = {"jsonrpc": "2.0", "id": frame["id"], "result": None}
                    await socket.send(json.dumps(answer))


def live_session(prefix):
    """The session secret of a client of this center, or None where there can be none."""
    with sessions_lock:
        session = sessions.get(prefix)
        if session is not None and not session.reading.done():
            return session.secret
        if session is None and len(sessions) >= CENTER_LIMIT:
            return None
        try:
            sessions[prefix] = Session(prefix)
        except (WebSocketException, OSError, ValueError):
            return None
        return sessions[prefix].secret


@schemathesis.hook
def before_call(context, case, kwargs):
    """Mends what no schema can say; see above."""
    add_session(case)
    if case.method == "POST" and isinstance(case.query, dict):
        add_style(case.path, case.query)
    if case.method == "POST":
        choose_time(case)
    choose_day(case.body)
    choose_day(case.query)
    if case.method == "DELETE" and case.path.endswith("/queue") and isinstance(case.query, dict):
        add_name(case.query)
    if case.method == "POST" and "/responders/" in case.path:
        add_preference(case)
    if case.meta is None or case.meta.generation.mode.is_positive:
        choose_explanation(case)
        begin_listing(case)
        add_answer(case)
        quote_tags(case)
        shorten_path(case)
    compact_default(case)
    break_whitespace(case)
    change_key(case)


def add_session(case):
    """Puts a live session into registrations that have a well-formed one."""
    if case.method != "POST" or not case.path.endswith("/observers"):
        return
    if not isinstance(case.body, dict):
        return
    session = case.body.get("session")
    if not isinstance(session, str) or not SESSION.fullmatch(session):
        return
    prefix = case.formatted_path.removesuffix("/observers")
    live = live_session(prefix)
    if live is not None:
        case.body = {**case.body, "session": live}


def add_style(path, query):
    """Gives the options of a queued post what they need, the style above all, unless it has a bad one."""
    if "maxDelay" in query and query.get("style") in (None, "now", "asap"):
        query["style"] = "idle"
    elif "keep" in query and query.get("style") in (None, "now"):
        query["style"] = "asap"
    elif {"coalesce", "modes"} & set(query):
        query.setdefault("style", "asap")
    if {"after", "at", "every", "replaces"} & set(query) and query.get("style") == "now":
        query["style"] = "asap"
    if "lease" in query and "/channels/" in path:
        query.setdefault("every", 86400)


def add_name(query):
    """Gives a dequeue something to compare."""
    coalesce = query.get("coalesce")
    if coalesce is None and "object" not in query:
        query.setdefault("name", "Redraw")
    elif isinstance(coalesce, str) and "name" in coalesce.split(","):
        query.setdefault("name", "Redraw")


def add_preference(case):
    """Lets an ask that says how long it lives outlive its asker."""
    if isinstance(case.query, dict) and "ttl" in case.query:
        if "respond-async" not in str(case.headers.get("Prefer")):
            case.headers["Prefer"] = "respond-async"


def choose_explanation(case):
    """Explains a post, which has a name, or an ask, which has an object and a selector."""
    if not case.path.endswith("/explain") or not isinstance(case.query, dict):
        return
    if "selector" not in case.query:
        case.query.setdefault("name", "Door")
        return
    case.query.setdefault("object", "deploy")
    for key in ("name", "limit", "cursor"):
        case.query.pop(key, None)


def quote_tags(case):
    """Makes an entity tag of a good header that is none."""
    for name in ("If-Match", "If-None-Match"):
        value = case.headers.get(name) if case.headers else None
        if value is not None and not TAGS.fullmatch(str(value)):
            case.headers[name] = f'"{value}"'


def shorten_path(case):
    """Leaves a good value as many keys above it as its depth allows."""
    if case.path.endswith("/{keyPath}") and case.method in ("PUT", "PATCH"):
        keys = case.path_parameters["keyPath"].split(".")
        case.path_parameters["keyPath"] = ".".join(keys[: max(1, 16 - depth(case.body))])


def depth(value):
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


def begin_listing(case):
    """Takes the place away where a listing would begin behind one."""
    if case.method == "GET" and isinstance(case.query, dict):
        case.query.pop("cursor", None)


def choose_time(case):
    """Lets a post enter the queue at one time, which is not too far ahead, unless it has a bad one."""
    if "/channels/" in case.path and isinstance(case.query, dict):
        if "at" in case.query and is_good_delay(case.query.get("after")):
            del case.query["after"]
        case.query = moved_back(case.query)
    elif case.path.endswith("/notifications"):
        if isinstance(case.body, list):
            case.body = [moved_back(post) for post in case.body]
        else:
            case.body = moved_back(case.body)


def choose_day(fields):
    """Moves a beginning at a time to a day that every month has."""
    since = fields.get("since") if isinstance(fields, dict) else None
    if isinstance(since, str):
        fields["since"] = LATE_DAY.sub(r"\1-28", since)


def is_good_delay(value):
    text = str(value)
    return NUMBER.fullmatch(text) is not None and float(text) <= AFTER["maximum"]


def moved_back(post):
    """Replaces a year to come, of which some days are over 366 ahead, by one that has every date."""
    at = post.get("at") if isinstance(post, dict) else None
    if isinstance(at, str) and YEAR.match(at) and int(at[:4]) > datetime.now(timezone.utc).year:
        return {**post, "at": "2024" + at[4:]}
    return post


def compact_default(case):
    """Writes a default without blanks, which would be sent as `+`: that stands for itself."""
    if isinstance(case.query, dict) and isinstance(case.query.get("default"), str):
        with contextlib.suppress(ValueError):
            value = json.loads(case.query["default"])
            case.query["default"] = json.dumps(value, separators=(",", ":"))


def add_answer(case):
    """Gives an answer the content that it needs unless it refuses or hands on."""
    if case.method != "PUT" or not case.path.endswith("/answer"):
        return
    outcome = case.query.get("outcome") if isinstance(case.query, dict) else None
    if outcome is None and case.body.__class__.__name__ == "NotSet":
        case.body = True
        case.media_type = "application/json"


def break_whitespace(case):
    """Makes malformed content of what the broker takes for none."""
    if "/channels/" in case.path and isinstance(case.body, bytes) and not case.body.strip(b" \t\r\n"):
        case.body = case.body + b"{" if case.body else case.body


def change_key(case):
    """Makes a well-formed key one that belongs to this request."""
    headers = case.headers
    key = headers.get("Idempotency-Key") if headers else None
    if not isinstance(key, str) or not KEY.fullmatch(key) or key == '""':
        return
    request = repr((case.formatted_path, case.query, headers.get("Prefer"), case.media_type, case.body))
    headers["Idempotency-Key"] = hashlib.sha256(request.encode("utf-8", "replace")).hexdigest()


@schemathesis.check
def problem_kind(context, response, case):
    """A problem is of a kind that the answer has an example of."""
    if "application/problem+json" not in str(response.headers.get("content-type")):
        return
    # A method that the path has not: the introduction of the file says so once for all paths.
    operation = contract["paths"][case.operation.path].get(case.method.lower())
    answer = operation and operation["responses"].get(str(response.status_code))
    if answer is None:
        return
    kinds = {example["value"]["type"] for example in examples(answer)}
    kind = response.json()["type"]
    assert kind in kinds, f"{kind} is not among {sorted(kinds)}"


def examples(answer):
    """The examples of an answer with a problem."""
    answer = referenced(answer)
    content = answer.get("content", {}).get("application/problem+json", {})
    return [referenced(example) for example in content.get("examples", {}).values()]


def referenced(value):
    """The component that this refers to, or the value itself."""
    if "$ref" not in value:
        return value
    _, _, part, name = value["$ref"].split("/")
    return contract["components"][part][name]
