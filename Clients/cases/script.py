"""Plays one case: the steps of the broker and of the program, in their order."""

import asyncio
import collections
import json
import re

import pattern
from server import answer_of, response

STEP_LIMIT = 5.0
"""Seconds after which what a step waits for counts as missing; `within` says another number."""

UNTOLD_PAUSE = 0.2
"""Seconds in place of something that the library has no way to tell."""

TOLD_OF = {"result": "of", "error": "of", "state": None}
"""The member that says of whom a thing is told; of all others that is `observer`."""


LARGE = {
    # More digits than some languages make a number of, without being told.
    "digits": lambda: "1" * 5_000,
    # --max-depth, with the userInfo itself.
    "depth": lambda: "[" * 127 + "]" * 127,
    # Much more than the default of --max-user-info, and than what any library took at first.
    "size": lambda: f'"{"x" * (5 << 20)}"',
    # Large in another way: many members.
    "members": lambda: json.dumps({f"k{number}": number for number in range(100_000)}),
    "exponent": lambda: "-1e99999",
}
"""What a userInfo has that is not as others are, as JSON."""


class CaseFault(Exception):
    """The library did something else than the case says."""


class Script:
    """A case that is played; `tell_runner` takes what the program has to do."""

    def __init__(self, case, tell_runner, lacks=()):
        self.name = case["case"]
        # The bytes that are answered to each request since an opening was refused.
        self.refusal = None
        # Whether the library has no WebSocket, so that its requests are steps of the case.
        self.has_requests = case.get("options", {}).get("transport") == "events"
        self._requests = asyncio.Queue()
        self._request = None
        self._refused_key = None
        self._case = case
        self._lacks = lacks
        self._tell_runner = tell_runner
        self._names = {}
        self._openings = asyncio.Queue()
        self._frames = asyncio.Queue()
        self._told = collections.defaultdict(asyncio.Queue)
        self._begun = asyncio.Queue()
        self._connection = None
        self._call = None
        self._http_calls = []

    # What the line and the runner bring.

    def opened(self, connection):
        # A platform may repeat the same opening by itself after 401 and 421 (RFC 9110 sections 15.5.2
        # and 15.5.20); another one of the library has another key.
        if self.refusal is not None and connection.key == self._refused_key:
            connection.answer(self.refusal)
        else:
            self._openings.put_nowait(connection)

    def called(self, call):
        self._http_calls.append(call)
        self._frames.put_nowait((call.frame, call))

    def requested(self, request):
        self._requests.put_nowait(request)

    def told(self, thing):
        self._told[stream(thing)].put_nowait(thing)

    def begun(self, label):
        self._begun.put_nowait(label)

    # The steps.

    async def play(self):
        """Plays all steps, and throws a fault with the step that did not hold."""
        for number, step in enumerate(self._case["steps"], 1):
            [kind] = [kind for kind in STEPS if kind in step]
            try:
                async with asyncio.timeout(step.get("within", STEP_LIMIT)):
                    await STEPS[kind](self, step)
            except CaseFault as found:
                raise CaseFault(f"{_place(number, step)}: {found}") from None
            except TimeoutError:
                seen = self._left()
                raise CaseFault(
                    f"{_place(number, step)}: did not come"
                    + (f", but {seen}" if seen else "")) from None
        if left := self._left():
            raise CaseFault(f"after the last step: {left}")

    async def _welcome(self, step):
        connection = await self._opening(step)
        self.refusal = None
        self._connection = connection
        connection.accept(self._taking(connection))
        params = {
            "client": "c1", "session": "c1.secret", "center": self.name, "epoch": "e1", "seq": 0,
            "pingInterval": 25,
        }
        self._send({"method": "belfry.welcome", "params": params | step["welcome"]})

    async def _refuse(self, step):
        problem = step["refuse"]
        fields = {"Retry-After": step["retryAfter"]} if "retryAfter" in step else {}
        await self._answer_opening(step, response(problem["status"], problem, **fields))

    async def _stranger(self, step):
        await self._answer_opening(step, answer_of(step["stranger"]))

    async def _answer_opening(self, step, answered):
        connection = await self._opening(step)
        self.refusal = answered
        self._refused_key = connection.key
        connection.answer(answered)

    async def _accept(self, step):
        self._connection = await self._opening(step)
        self.refusal = None
        self._connection.accept(self._taking(self._connection))

    async def _requested(self, step):
        self._request = await self._requests.get()
        self._check(step["requested"], self._request.said, "the request")
        if "reply" in step:
            reply = step["reply"]
            self._request.reply(answer_of(reply), bool(reply.get("cut")))

    async def _stream(self, step):
        self._request.reply(step["stream"].encode(), False)

    async def _cut_stream(self, step):
        self._request.cut()

    async def _opening(self, step):
        if wait := step.get("notBefore"):
            await self._quiet({"quiet": wait})
        connection = await self._openings.get()
        while connection.is_gone:
            connection = await self._openings.get()
        self._check(step.get("token"), connection.token, "the token")
        return connection

    async def _expect(self, step):
        frame, self._call = await self._frames.get()
        # What a call has to be is short: its method, its params.
        self._check(step["expect"], frame, "the frame")
        if "answer" in step:
            self._call.answer(self._filled(step["answer"]))
        elif "fail" in step:
            self._call.fail(self._filled(step["fail"]))

    async def _answer_late(self, step):
        self._call.answer(self._filled(step["answerLate"]))

    async def _send_step(self, step):
        self._send(self._filled(step["send"]))

    async def _send_text(self, step):
        self._connection.send(step["sendText"])

    async def _send_large(self, step):
        """A notification as large as a broker's options let it be."""
        said = self._filled(step["sendLarge"])
        text = LARGE[said.pop("with")]()
        params = json.dumps(said["params"])[:-1]
        self._connection.send(
            f'{{"jsonrpc":"2.0","method":{json.dumps(said["method"])},'
            f'"params":{params},"userInfo":{{"large":{text}}}}}}}')

    async def _close(self, step):
        self._connection.close(step["close"])

    async def _cut(self, step):
        self._connection.cut()
        for call in self._http_calls:
            call.cut()
        self._http_calls.clear()

    async def _freeze(self, step):
        self._connection.is_frozen = True

    async def _ended(self, step):
        await self._connection.ended.wait()

    async def _quiet(self, step):
        """Nothing comes and nothing is told for so many seconds."""
        await asyncio.sleep(step["quiet"])
        if left := self._left():
            raise CaseFault(left)

    async def _do(self, step):
        self._tell_runner({"case": self.name, **self._filled(step)})
        # What the broker does next comes after the call, however slow the runner is.
        if label := step.get("as"):
            while await self._begun.get() != label:
                pass

    async def _is_told(self, step):
        if step["told"] in self._lacks:
            return await asyncio.sleep(UNTOLD_PAUSE)
        wanted = {key: value for key, value in step.items() if key != "within"}
        if step["told"] == "state":
            # A case names the states that matter, and not those on the way.
            while pattern.fault(wanted, await self._told["state", None].get(), self._names):
                pass
            return
        self._check(wanted, await self._told[stream(step)].get(), "what is told")

    # Helpers.

    def _taking(self, connection):
        def take(frame):
            call = SocketCall(frame, connection)
            if frame.get("method") == "ping" and not self._case.get("pings"):
                call.answer({})
            else:
                self._frames.put_nowait((frame, call))
        return take

    def _send(self, frame):
        self._connection.send(json.dumps({"jsonrpc": "2.0", **frame}))

    def _check(self, wanted, found, place):
        if why := pattern.fault(wanted, found, self._names, place):
            raise CaseFault(why)

    def _filled(self, value):
        return pattern.filled(value, self._names)

    def _left(self):
        """What has come, and no step has asked for."""
        if not self._requests.empty():
            return f"a request came: {self._requests.get_nowait().said}"
        if not self._frames.empty():
            return f"a frame came: {self._frames.get_nowait()[0]}"
        while not self._openings.empty():
            if not self._openings.get_nowait().is_gone:
                return "an opening came"
        for (kind, _), things in self._told.items():
            if kind != "state" and not things.empty():
                return f"it was told: {things.get_nowait()}"
        return None


class SocketCall:
    """A frame of a library that wants an answer."""

    def __init__(self, frame, connection):
        self._frame = frame
        self._connection = connection

    def answer(self, result):
        self._send({"result": result})

    def fail(self, error):
        self._send({"error": error})

    def _send(self, members):
        self._connection.send(json.dumps({"jsonrpc": "2.0", "id": self._frame["id"], **members}))


def stream(thing):
    """Things of one stream come in their order; between two streams there is none."""
    kind = thing["told"]
    of = TOLD_OF.get(kind, "observer")
    return kind, of and thing.get(of)


def _place(number, step):
    text = re.sub(r"\s+", " ", json.dumps(step))
    return f"step {number} {text[:200]}"


STEPS = {
    "welcome": Script._welcome,
    "refuse": Script._refuse,
    "stranger": Script._stranger,
    "accept": Script._accept,
    "requested": Script._requested,
    "stream": Script._stream,
    "cutStream": Script._cut_stream,
    "expect": Script._expect,
    "answerLate": Script._answer_late,
    "send": Script._send_step,
    "sendText": Script._send_text,
    "sendLarge": Script._send_large,
    "close": Script._close,
    "cut": Script._cut,
    "freeze": Script._freeze,
    "ended": Script._ended,
    "quiet": Script._quiet,
    "do": Script._do,
    "told": Script._is_told,
}
