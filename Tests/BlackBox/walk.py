#!/usr/bin/env python3
"""Walks through README.md, Documentation/Tutorial.md and Documentation/Guide.md: runs every command block from
top to bottom, in one shell and one folder, and compares what is printed with what the page says.

    walk.py BINARY [PAGE...]

A comment before a block says how it is run, where that is not one command after the other:

    <!-- walk: NAME -->             in the background; the block has what it prints at once
    <!-- walk: NAME again -->       the same, when the earlier NAME has been ended
    <!-- walk: NAME prints -->      no command: what NAME has printed since
    <!-- walk: on a terminal -->
    <!-- walk: NAME on a terminal -->
    <!-- walk: file NAME -->        no command: the text of a file
    <!-- walk: not run: REASON -->
    <!-- walk: with the page: STEP -->   passed over: it needs a browser, and tutorial_test.py runs it

Ports of the pages are others here. An id, a token, an epoch or a time may differ; but what is the same in two
places of a page must be the same here.
"""

import os
import pathlib
import queue
import re
import shlex
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "Documentation/Tutorial.md", "Documentation/Guide.md"]
PATIENCE_SECONDS = 20

BLOCK = re.compile(
    r"(?:^<!-- walk: (?P<note>[^\n]*?) -->\n)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.M | re.S)

# What differs from run to run; values of the first row must be told apart and stay what they are.
NAMES = r"[0-9A-HJKMNP-TV-Z]{26}|(?<=[ocm]\d\.)[\w-]{22}|(?<=\"epoch\":\")[0-9a-f]{12}|(?<=id: )[0-9a-f]{12}"
MOMENTS = r"(?:\d{4}-\d\d-\d\dT)?\d\d:\d\d:\d\d\.\d{3}Z|(?<=retry: )\d+"
VARYING = re.compile(f"({NAMES})|({MOMENTS})")


class Difference(Exception):
    """What is printed is not what the page says."""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def lines_of(text):
    """The lines that are printed: one that begins with a blank goes on where the line before it ends."""
    return text.replace("\n ", "").rstrip("\n").split("\n") if text.strip() else []


class Background:
    """A program that runs beside the others, and what it prints."""

    def __init__(self, command, folder, environment):
        self.process = subprocess.Popen(
            ["bash", "-c", "exec " + command], cwd=folder, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.lines, self.errors = queue.Queue(), []
        for stream, take in ((self.process.stdout, self.lines.put), (self.process.stderr, self.errors.append)):
            threading.Thread(
                target=lambda stream=stream, take=take: [take(line) for line in stream], daemon=True).start()

    def take(self, count):
        """The next lines, empty ones left out."""
        lines, deadline = [], time.monotonic() + PATIENCE_SECONDS
        while len(lines) < count:
            try:
                line = self.lines.get(timeout=max(0.01, deadline - time.monotonic())).rstrip("\r\n")
            except queue.Empty:
                raise Difference(f"it printed {lines} and no more; errors: {''.join(self.errors[-5:])}") from None
            if line:
                lines.append(line)
        return lines

    def end(self):
        self.process.terminate()
        self.process.wait(PATIENCE_SECONDS)


class Walk:
    """One page, in a folder and a shell of its own."""

    def __init__(self, binary, folder):
        self.folder = folder
        self.known, self.programs = {}, {}
        self.ports = {port: str(free_port()) for port in ("8080", "8081", "8082", "8083", "8443")}
        self.environment = {
            **os.environ, "NO_COLOR": "1", "PATH": f"{pathlib.Path(binary).resolve().parent}:{os.environ['PATH']}",
            "BELFRY_LISTEN": f"127.0.0.1:{self.ports['8080']}",
            "BELFRY_URL": f"http://127.0.0.1:{self.ports['8080']}"}
        # What the page sets in its shell, a command on a terminal of its own must see.
        self.shell = subprocess.Popen(
            ["bash", "-a"], cwd=folder, env=self.environment, text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=open(os.path.join(folder, "errors.log"), "w"))

    def end(self):
        self.shell.stdin.close()
        self.shell.wait(PATIENCE_SECONDS)
        for program in reversed(self.programs.values()):
            program.end()

    # --- Texts ------------------------------------------------------------------------------------

    def here(self, text):
        """A text of the page with the ports and the names of this run."""
        for port, ours in self.ports.items():
            text = re.sub(rf"\b{port}\b", ours, text)
        for theirs, ours in self.known.items():
            text = text.replace(theirs, ours)
        return text

    def compare(self, wanted, got):
        """Compares lines of the page with those that were printed, and remembers their names."""
        if len(wanted) != len(got):
            raise Difference(f"{len(wanted)} lines are expected:\n  {wanted}\nthere are:\n  {got}")
        for theirs, ours in zip(wanted, got):
            self.compare_line(theirs, ours)

    def compare_line(self, theirs, ours):
        names, pattern, place = [], "", 0
        for match in VARYING.finditer(theirs):
            pattern += re.escape(self.here(theirs[place:match.start()]))
            is_name = match.group(1) is not None
            pattern += r"([\w-]+)" if is_name else r"[\w:.-]+"
            names += [match.group(0)] if is_name else []
            place = match.end()
        found = re.fullmatch(pattern + re.escape(self.here(theirs[place:])), ours)
        if not found:
            raise Difference(f"expected: {self.here(theirs)}\nprinted:  {ours}")
        for name, value in zip(names, found.groups()):
            if self.known.setdefault(name, value) != value:
                raise Difference(f"{name} was {self.known[name]} and is {value} now, in: {ours}")

    # --- Blocks -----------------------------------------------------------------------------------

    def take(self, note, kind, text):
        """Runs one block; tells how many commands that were."""
        note = note or ""
        if note.startswith(("not run: ", "with the page: ")):
            return 0
        if note.startswith("file "):
            pathlib.Path(self.folder, note.removeprefix("file ")).write_text(self.here(text))
            return 0
        if kind != "console":
            return 0
        if note.endswith(" prints"):
            wanted = lines_of(text)
            self.compare(wanted, self.programs[note.removesuffix(" prints")].take(len(wanted)))
            return 0
        if note.endswith(" again"):
            note = note.removesuffix(" again")
            self.programs[note].end()
        note, on_terminal, _ = note.partition("on a terminal")
        commands = re.split(r"^\$ ", text, flags=re.M)[1:]
        for command in commands:
            line, *printed = re.sub(r"\\\n\s*", "", command).split("\n", 1)
            wanted = [line for line in lines_of(printed[0] if printed else "") if line]
            if on_terminal:
                line = f"script -qec {shlex.quote(line)} /dev/null"
            if note:
                self.begin(note.rstrip(), line, wanted)
            else:
                self.compare(wanted, self.run(line))
        return len(commands)

    def run(self, command):
        """Runs a command in the shell; the lines that it printed, empty ones left out."""
        command = self.here(command)
        mark = f"walked-{time.monotonic_ns()}"
        # It does not read what the shell is to read, and need not end the last line that it prints.
        self.shell.stdin.write(f"{{ {command}\n}} < /dev/null\nprintf '\\n%s\\n' {mark}\n")
        self.shell.stdin.flush()
        lines = []
        for line in self.shell.stdout:
            if line.rstrip() == mark:
                return [line for line in lines if line]
            lines.append(line.rstrip("\r\n"))
        raise Difference("the shell has ended")

    def begin(self, name, command, wanted):
        """Starts a program, and waits until it does what it is for."""
        observers = self.observers()
        program = self.programs[name] = Background(self.here(command), self.folder, self.environment)
        if wanted:
            self.compare(wanted, program.take(len(wanted)))
            return
        served = [port for port in self.ports if f":{port}" in command or f" {port}" in command] or ["8080"]
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline and program.process.poll() is None:
            if "belfry serve" not in command and re.search(r"\b(observe|respond)\b", command):
                if self.observers() != observers:
                    return
            elif self.answers(served[-1], "/readyz" if "belfry serve" in command else "/"):
                return
            time.sleep(0.02)
        raise Difference(f"it does not begin: {''.join(program.errors[-5:])}")

    def answers(self, port, path):
        scheme = "https" if port == "8443" else "http"
        try:
            urllib.request.urlopen(
                f"{scheme}://127.0.0.1:{self.ports[port]}{path}", timeout=5,
                context=ssl._create_unverified_context()).close()
            return True
        except OSError:
            return False

    def observers(self):
        try:
            return urllib.request.urlopen(f"{self.environment['BELFRY_URL']}/v1/observers", timeout=5).read()
        except OSError:
            return None


def walk(page, binary):
    text = (ROOT / page).read_text()
    with tempfile.TemporaryDirectory(prefix="belfry-walk-") as folder:
        way = Walk(binary, folder)
        try:
            if "$ belfry serve" not in text:
                way.begin("broker", "belfry serve", [])
            return walk_blocks(way, page, text)
        finally:
            way.end()


def walk_blocks(way, page, text):
    """Runs the blocks of a page; tells how many commands they have."""
    count = 0
    for block in BLOCK.finditer(text):
        number = text.count("\n", 0, block.start()) + 1
        try:
            count += way.take(block["note"], block["kind"], block["text"])
        except Difference as difference:
            raise Difference(f"{page}:{number}: {difference}") from None
    return count


def main():
    binary, *pages = sys.argv[1:]
    for page in pages or PAGES:
        try:
            count = walk(page, binary)
        except Difference as difference:
            sys.exit(f"error: {difference}")
        print(f"{page}: {count} commands, and all print what the page says")


if __name__ == "__main__":
    main()
