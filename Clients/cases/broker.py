#!/usr/bin/env python3
"""A scripted broker, which plays the cases of this folder with a library and judges it.

    broker.py [--only CASE]... [--at-once N] -- RUNNER...

It starts the program RUNNER, which has the library, and talks with it in lines of JSON over its
standard input and output (README.md). Without `--` it talks over its own. It needs `websockets`.
"""

import argparse
import asyncio
import json
import pathlib
import sys

import verdicts
from script import CaseFault, Script
from server import Server

FOLDER = pathlib.Path(__file__).parent
LINE_LIMIT = 64 << 20
"""Bytes of a line of a runner, which tells whole notifications."""

ENDING_LIMIT = 10.0
"""Seconds that a runner has for ending a case."""

# A runner hands on numbers as it read them, also one of 5,000 digits.
sys.set_int_max_str_digits(0)


def arguments():
    parser = argparse.ArgumentParser(description="plays the conformance cases with a library")
    parser.add_argument("--only", action="append", metavar="CASE", help="that case alone")
    parser.add_argument("--at-once", type=int, default=16, metavar="N", help="cases side by side")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("runner", nargs="*", help="the program that has the library")
    return parser.parse_args()


def all_cases(only):
    cases = [
        case for path in sorted(FOLDER.glob("*.json")) if path != verdicts.TABLE
        for case in json.loads(path.read_text())]
    cases += verdicts.cases()
    names = [case["case"] for case in cases]
    assert len(set(names)) == len(names), "two cases have one name"
    if unknown := set(only or ()) - set(names):
        raise SystemExit(f"there is no case {', '.join(sorted(unknown))}")
    return [case for case in cases if not only or case["case"] in only]


class Play:
    """All cases with one runner."""

    def __init__(self, server, url, output):
        self.hello = asyncio.get_running_loop().create_future()
        self.failed = []
        self._server = server
        self._url = url
        self._output = output
        self._endings = {}

    def say(self, line):
        self._output.write(json.dumps(line).encode() + b"\n")

    async def hear(self, source):
        """Takes the lines of the runner until it ends."""
        while line := await source.readline():
            said = json.loads(line)
            if "hello" in said:
                self.hello.set_result(said["hello"])
            elif "ended" in said:
                self._endings[said["case"]].set_result(None)
            elif script := self._server.scripts.get(said["case"]):
                if "begun" in said:
                    script.begun(said["begun"])
                else:
                    script.told(said)
        if not self.hello.done():
            self.hello.set_exception(SystemExit("the runner ended before it said hello"))

    async def play(self, case, turn):
        async with turn:
            hello = await self.hello
            lacks = hello.get("lacks", [])
            name = case["case"]
            missing = set(case.get("needs", [])) & set(lacks)
            if missing := missing | set(case.get("also", [])) - set(hello.get("also", [])):
                return report("skip", name, f"it lacks {', '.join(sorted(missing))}")
            script = Script(case, self.say, lacks)
            self._server.scripts[name] = script
            self._endings[name] = asyncio.get_running_loop().create_future()
            self.say({
                "case": name,
                "begin": {"url": self._url, "center": name, "options": case.get("options", {})},
            })
            try:
                await script.play()
            except CaseFault as found:
                self.failed.append(name)
                report("FAIL", name, str(found))
            else:
                report("ok", name, case["about"])
            self.say({"case": name, "end": True})
            try:
                await asyncio.wait_for(self._endings[name], ENDING_LIMIT)
            except TimeoutError:
                self.failed.append(name)
                report("FAIL", name, f"its runner did not end it within {ENDING_LIMIT:g} s")


def report(word, name, text):
    print(f"{word:4} {name}: {text}", file=sys.stderr, flush=True)


async def standard_lines():
    """Standard input and output as streams."""
    loop = asyncio.get_running_loop()
    source = asyncio.StreamReader(limit=LINE_LIMIT)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(source), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, sys.stdout)
    return source, asyncio.StreamWriter(transport, protocol, None, loop)


async def play_all(play, cases, turn):
    """Those that keep the machine busy are alone, so that no other one is late for them."""
    for case in cases:
        if case.get("alone"):
            await play.play(case, turn)
    await asyncio.gather(*(play.play(case, turn) for case in cases if not case.get("alone")))


async def main():
    options = arguments()
    cases = all_cases(options.only)
    if options.list:
        print("\n".join(f"{case['case']}: {case['about']}" for case in cases))
        return 0
    server = Server()
    url = await server.start()
    process = None
    if options.runner:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *options.runner, stdin=pipe, stdout=pipe, limit=LINE_LIMIT)
        source, output = process.stdout, process.stdin
    else:
        source, output = await standard_lines()
    play = Play(server, url, output)
    hearing = asyncio.create_task(play.hear(source))
    turn = asyncio.Semaphore(options.at_once)
    plays = asyncio.create_task(play_all(play, cases, turn))
    done, _ = await asyncio.wait([plays, hearing], return_when=asyncio.FIRST_COMPLETED)
    if plays not in done:
        raise SystemExit("the runner ended before the cases did")
    await plays
    output.close()
    if process is not None:
        await asyncio.wait_for(process.wait(), ENDING_LIMIT)
    report("ok" if not play.failed else "FAIL", "cases", f"{len(cases)}, {len(play.failed)} failed")
    return 1 if play.failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
