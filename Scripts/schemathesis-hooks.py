"""What Scripts/schemathesis teaches schemathesis (SCHEMATHESIS_HOOKS names this file).

A session: `POST /v1/observers` registers an observer for a client that is connected, and what
connects a client is a WebSocket, which no OpenAPI link can open. So a request that has a
well-formed session gets that of a client which this file connects: 201, and the links from there
to reading, removing and 410 can be followed. All else in the request stays as it was generated.

An idempotency key: a fuzzer sends the same few keys with ever other requests, which is 422. So each
well-formed key is another one.

A wait: nobody acknowledges, and nothing comes, so a long one would only take its time.
"""

import ast
import asyncio
import builtins
import contextlib
import json
import os
import re
import sys
import threading
import uuid

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
SESSION = re.compile(r"c(0|[1-9][0-9]{0,17})\.[A-Za-z0-9_-]{22,64}")
KEY = re.compile(r"[!#-~]{1,255}")
WAIT = re.compile(r"wait=[1-9][0-9]*")

address = os.environ["BELFRY_ADDRESS"]
sessions = {}
sessions_lock = threading.Lock()
loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()


class Session:
    """A client of one center; it reads and forgets what its observers get."""

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
            async for _ in socket:
                pass


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
    """Makes a request one that the state of the broker does not stand against."""
    headers = case.headers
    if headers:
        if KEY.fullmatch(str(headers.get("Idempotency-Key", ""))):
            headers["Idempotency-Key"] = str(uuid.uuid4())
        if "Prefer" in headers:
            headers["Prefer"] = WAIT.sub("wait=1", str(headers["Prefer"]))
    put_session(case)


def put_session(case):
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
