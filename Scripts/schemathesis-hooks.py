"""What Scripts/schemathesis teaches schemathesis (SCHEMATHESIS_HOOKS names this file).

A session: `POST /v1/observers` registers an observer for a client that is connected, and what
connects a client is a WebSocket, which no OpenAPI link can open. So a request that has a
well-formed session gets that of a client which this file connects: 201, and the links from there
to reading, removing and 410 can be followed. All else in the request stays as it was generated.
"""

import ast
import asyncio
import builtins
import json
import os
import re
import sys
import threading

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

address = os.environ["BELFRY_ADDRESS"]
sessions = {}
sessions_lock = threading.Lock()
loop = asyncio.new_event_loop()
threading.Thread(target=loop.run_forever, daemon=True).start()


async def open_session(prefix):
    """Connects a client that lives as long as this process, and returns its session."""
    socket = await connect(f"ws://{address}{prefix}/ws", subprotocols=["belfry.v1"], proxy=None)
    welcome = json.loads(await socket.recv())
    task = loop.create_task(read_all(socket))
    return welcome["params"]["session"], task


async def read_all(socket):
    async for _ in socket:
        pass


def live_session(prefix):
    """The session of a client of this center, or None where there can be none."""
    with sessions_lock:
        if prefix not in sessions and len(sessions) < CENTER_LIMIT:
            try:
                opening = asyncio.run_coroutine_threadsafe(open_session(prefix), loop)
                sessions[prefix] = opening.result(timeout=10)
            except (WebSocketException, OSError, ValueError):
                sessions[prefix] = (None, None)
        return sessions.get(prefix, (None, None))[0]


@schemathesis.hook
def before_call(context, case, kwargs):
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
