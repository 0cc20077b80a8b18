"""What the benchmarks share: a broker to measure, clients for it, and callgrind's figures.

Python 3 and its standard library only. The broker is `$BELFRY_BINARY`, else the release build of
`belfry`, else that of `BenchmarkBroker` (see README.md).
"""

import base64
import collections
import json
import os
import re
import select
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def binary():
    """The broker to measure."""
    chosen = os.environ.get("BELFRY_BINARY")
    if chosen:
        return chosen
    for name in ("belfry", "BenchmarkBroker"):
        path = os.path.join(ROOT, ".build", "release", name)
        if os.path.exists(path):
            return path
    sys.exit("no broker: build one, or name it in BELFRY_BINARY (see Benchmarks/README.md)")


def built(name):
    """The path of a program of this folder."""
    path = os.path.join(ROOT, ".build", "release", name)
    if not os.path.exists(path):
        sys.exit(f"{name} is not built (see Benchmarks/README.md)")
    return path


class Broker:
    """A broker on a free port; `wrapper` is a command to run it under, such as valgrind.

    Without options it keeps everything in memory.
    """

    def __init__(self, wrapper=(), cpu=None, path=None, options=("--in-memory",)):
        path = path or binary()
        command = [*wrapper, path]
        if os.path.basename(path).startswith("belfry"):
            command += ["serve", "--listen", "127.0.0.1:0", *options]
        else:
            command += ["127.0.0.1:0", *(option for option in options if option == "patient")]
        if cpu is not None:
            command = ["taskset", "-c", str(cpu), *command]
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=self.log)
        self.port = self._wait_for_port()

    def _wait_for_port(self):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            text = self.text()
            found = re.search(r"listening.*?127\.0\.0\.1:(\d+)", text)
            if found:
                return int(found.group(1))
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        sys.exit("the broker did not start:\n" + self.text())

    def text(self):
        # By position: the broker writes at the offset that another read would move.
        number = self.log.fileno()
        return os.pread(number, os.fstat(number).st_size, 0).decode(errors="replace")

    @property
    def pid(self):
        """The process of the broker itself, also when it runs under another."""
        children = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        try:
            with open(children) as file:
                below = file.read().split()
        except OSError:
            below = []
        return int(below[0]) if below else self.process.pid

    def cpu_seconds(self):
        """User and system time of the process so far."""
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        if self.process.poll() is None:
            os.kill(self.pid, signal.SIGTERM)
        try:
            code = self.process.wait(120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            sys.exit("the broker did not stop:\n" + self.text())
        if code != 0:
            sys.exit(f"the broker ended with {code}:\n" + self.text())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() == -signal.SIGKILL:
            return  # The caller killed it.
        if self.process.poll() is None and sys.exc_info()[0] is not None:
            # A tracer that is killed would leave the broker behind.
            os.kill(self.pid, signal.SIGKILL)
            self.process.wait()
        else:
            self.stop()


# --- Clients ------------------------------------------------------------------------------------


def user_info(byte_count=280):
    """A JSON object of so many bytes, of the kinds of value that notifications carry."""
    text = (
        '{"title":"7","count":42,"ratio":-0.125,"tags":["red","green","blue"],"active":true,'
        '"parent":null,"place":{"city":"Z\\u00fcrich","lat":47.3769,"lon":8.5417},'
        '"at":"2026-11-21T08:00:00.000Z","note":"'
    )
    rest = byte_count - len(text) - 2
    if rest < 0:
        return b'{"n":"' + b"x" * (byte_count - 8) + b'"}'
    return (text + ("the quick brown fox jumps " * (rest // 26 + 1))[:rest] + '"}').encode()


# Fields of all requests that this process makes, each with its line end.
request_fields = ""


def post_request(content, path="/v1/channels/ButtonChange", method="POST"):
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{request_fields}Content-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


def connect(port, receive_buffer=None, tls=None):
    """A connection; `tls` is the context of a client, and verifies the certificate."""
    client = socket.socket()
    if receive_buffer:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    client.connect(("127.0.0.1", port))
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return tls.wrap_socket(client, server_hostname="127.0.0.1") if tls else client


def read_ready(client):
    """What a connection that does not block has, all of its TLS records; none at its end."""
    if not isinstance(client, ssl.SSLSocket):
        return client.recv(1 << 18)
    parts = []
    try:
        while more := client.recv(1 << 18):
            parts.append(more)
    except ssl.SSLWantReadError:
        if not parts:
            raise
    return b"".join(parts)


LENGTH = re.compile(rb"content-length: *(\d+)", re.I)


class HTTPClient:
    """A keep-alive connection that counts whole responses."""

    def __init__(self, port, tls=None):
        self.socket = connect(port, tls=tls)
        self.rest = b""

    def send(self, bytes_):
        self.socket.sendall(bytes_)

    def responses(self, count):
        """Waits for so many responses and returns the (status, content) of the last."""
        last = None
        while count:
            end = self.rest.find(b"\r\n\r\n")
            if end >= 0:
                head = self.rest[:end]
                found = LENGTH.search(head)
                size = int(found.group(1)) if found else 0
                if len(self.rest) >= end + 4 + size:
                    last = int(head[9:12]), self.rest[end + 4 : end + 4 + size]
                    self.rest = self.rest[end + 4 + size :]
                    count -= 1
                    continue
            more = self.socket.recv(1 << 20)
            if not more:
                raise ConnectionError("the broker closed the connection")
            self.rest += more
        return last

    def close(self):
        self.socket.close()


def text_frame(text, mask=b"\x11\x22\x33\x44", opcode=1):
    """A masked frame, as clients send it (RFC 6455 §5.2)."""
    payload = text.encode() if isinstance(text, str) else text
    size = len(payload)
    if size < 126:
        head = bytes([0x80 | opcode, 0x80 | size])
    elif size < 65536:
        head = bytes([0x80 | opcode, 0x80 | 126]) + size.to_bytes(2, "big")
    else:
        head = bytes([0x80 | opcode, 0x80 | 127]) + size.to_bytes(8, "big")
    key = (mask * (size // 4 + 1))[:size]
    masked = int.from_bytes(payload, "big") ^ int.from_bytes(key, "big")
    return head + mask + masked.to_bytes(size, "big")


def parse_frames(buffer):
    """The (opcode, payload) of all whole frames at the start, and the rest of the bytes."""
    frames = []
    place = 0
    while len(buffer) - place >= 2:
        size, start = buffer[place + 1] & 0x7F, place + 2
        if size == 126:
            if len(buffer) < start + 2:
                break
            size, start = int.from_bytes(buffer[start : start + 2], "big"), start + 2
        elif size == 127:
            if len(buffer) < start + 8:
                break
            size, start = int.from_bytes(buffer[start : start + 8], "big"), start + 8
        if len(buffer) < start + size:
            break
        frames.append((buffer[place] & 15, buffer[start : start + size]))
        place = start + size
    return frames, buffer[place:]


class WebSocketClient:
    """A session that can register observers and read frames."""

    def __init__(self, port, path="/v1/ws", receive_buffer=None, extensions=None, tls=None):
        self.socket = connect(port, receive_buffer, tls)
        self.rest = b""
        self.frames = collections.deque()
        key = base64.b64encode(os.urandom(16)).decode()
        offer = f"Sec-WebSocket-Extensions: {extensions}\r\n" if extensions else ""
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{request_fields}Upgrade: websocket\r\n{offer}"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: belfry.v1\r\n\r\n".encode()
        )
        while b"\r\n\r\n" not in self.rest:
            more = self.socket.recv(65536)
            if not more:
                raise ConnectionError(f"no opening: {self.rest!r}")
            self.rest += more
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        if b" 101 " not in head:
            raise ConnectionError(f"no opening: {head!r}")
        self.opening = head

    def send_text(self, text):
        self.socket.sendall(text_frame(text))

    def next_frame(self):
        while not self.frames:
            frames, self.rest = parse_frames(self.rest)
            self.frames.extend(frames)
            if not self.frames:
                more = self.socket.recv(1 << 18)
                if not more:
                    raise ConnectionError("the broker closed the connection")
                self.rest += more
        return self.frames.popleft()

    def observe(self, name=None, number=1, **fields):
        """Registers an observer, of a name or with other fields, and waits for the reply."""
        if name:
            fields = {"name": name, **fields}
        params = json.dumps(fields, separators=(",", ":"))
        self.send_text(
            f'{{"jsonrpc":"2.0","id":{number},"method":"addObserver","params":{params}}}')
        while True:
            _, payload = self.next_frame()
            if f'"id":{number}'.encode() in payload and b'"jsonrpc"' in payload:
                if b'"error"' in payload:
                    raise ValueError(payload.decode())
                if b'"result"' in payload:
                    return payload

    def close(self):
        self.socket.close()


class Observers:
    """Many sessions with one observer each; counts the frames that they all get."""

    def __init__(self, port, count, name="ButtonChange", tls=None):
        self.port, self.name, self.tls = port, name, tls
        self.clients = []
        self.poll = select.epoll()
        self.by_number = {}
        # Frames that came before they were waited for: others were posting too.
        self.surplus = 0
        self.add(count)

    def add(self, count):
        """Opens so many sessions more; nobody may post meanwhile."""
        more = [WebSocketClient(self.port, tls=self.tls) for _ in range(count)]
        for client in more:
            client.observe(self.name)
            assert not client.frames and not client.rest
            client.socket.setblocking(False)
            self.poll.register(client.socket, select.EPOLLIN)
            self.by_number[client.socket.fileno()] = client
        self.clients += more

    def observe(self, **fields):
        """Lets each session observe something else, too; nobody may post meanwhile."""
        for client in self.clients:
            client.socket.setblocking(True)
            client.observe(**fields)
            client.socket.setblocking(False)

    def drain(self, frame_count):
        """Reads until all of them together got so many frames more."""
        missing = frame_count - self.surplus
        while missing > 0:
            ready = self.poll.poll(30)
            if not ready:
                raise TimeoutError(f"{missing} of {frame_count} frames did not come")
            for number, _ in ready:
                client = self.by_number[number]
                try:
                    more = read_ready(client.socket)
                except ssl.SSLWantReadError:
                    continue
                if not more:
                    raise ConnectionError("the broker closed an observer's connection")
                frames, client.rest = parse_frames(client.rest + more)
                for opcode, payload in frames:
                    if opcode == 9:
                        # A run under valgrind lasts longer than the broker's ping interval.
                        client.socket.send(text_frame(payload, opcode=10))
                    else:
                        missing -= 1
        self.surplus = -missing

    def finish(self):
        """Fails if there were frames that nobody waited for."""
        if self.surplus:
            raise ValueError(f"{self.surplus} frames too many")

    def close(self):
        for client in self.clients:
            client.close()


# --- Instruction counts -------------------------------------------------------------------------


class Profile:
    """Instructions of a run under callgrind: in all, by function, and by address of the binary."""

    COUNTERS = ("own", "inclusive", "calls", "own_at", "inclusive_at")

    def __init__(self):
        self.total = 0
        for name in self.COUNTERS:
            setattr(self, name, collections.Counter())

    @classmethod
    def read(cls, path, binary_name):
        profile = cls()
        names = {}

        def named(kind, text):
            number, _, name = text.partition(" ")
            if name:
                names[kind, number] = name
            return names.get((kind, number), text)

        function = callee = None
        is_ours = is_call = False
        address = 0
        with open(path, errors="replace") as lines:
            for line in lines:
                line = line.rstrip("\n")
                head = line[:1]
                if head and (head.isdigit() or head in "+-*"):
                    parts = line.split()
                    # The address is absolute, or relative to that of the row before.
                    if parts[0][0] == "+":
                        address += int(parts[0][1:], 0)
                    elif parts[0][0] == "-":
                        address -= int(parts[0][1:], 0)
                    elif parts[0] != "*":
                        address = int(parts[0], 0)
                    cost = int(parts[2]) if len(parts) > 2 else 0
                    if is_call:
                        is_call = False
                        if callee == function:
                            continue
                    else:
                        profile.own[function] += cost
                        profile.total += cost
                        if is_ours:
                            profile.own_at[address] += cost
                    profile.inclusive[function] += cost
                    if is_ours:
                        profile.inclusive_at[address] += cost
                elif line.startswith("fn="):
                    function = named("fn", line[3:])
                elif line.startswith("cfn="):
                    callee = named("fn", line[4:])
                elif line.startswith("ob="):
                    is_ours = named("ob", line[3:]).endswith("/" + binary_name)
                elif line.startswith("cob="):
                    named("ob", line[4:])
                elif line.startswith("calls="):
                    profile.calls[callee] += int(line[6:].split()[0])
                    is_call = True
        return profile

    def slope(self, shorter, divisor):
        """What one unit costs: the difference to a shorter run, divided."""
        result = Profile()
        result.total = (self.total - shorter.total) / divisor
        for name in self.COUNTERS:
            mine, other, out = (getattr(p, name) for p in (self, shorter, result))
            for key in mine:
                value = (mine[key] - other.get(key, 0)) / divisor
                if value:
                    out[key] = value
        return result


def callgrind(work):
    """The profile of a broker that did `work(port)` under callgrind, from start to stop."""
    with tempfile.TemporaryDirectory(prefix="belfry-callgrind.") as folder:
        path = os.path.join(folder, "out")
        wrapper = [
            "valgrind", "--tool=callgrind", f"--callgrind-out-file={path}", "--dump-instr=yes",
            "--quiet",
        ]
        program = readable_binary(folder)
        with Broker(wrapper, path=program) as broker:
            work(broker.port)
        return Profile.read(path, os.path.basename(program))


class Callgrind:
    """Instructions of a process between two moments in which it stands still.

    The process runs under `wrapper`. With `begins_late` nothing is counted until `begin`, which is
    several times faster.
    """

    def __init__(self, folder, begins_late=False):
        self.path = os.path.join(folder, "counts")
        self.dump_count = 0
        self.pid = None
        self.wrapper = [
            "valgrind", "--tool=callgrind", f"--callgrind-out-file={self.path}", "--quiet",
            f"--vgdb-prefix={os.path.join(folder, 'vgdb')}", f"--instr-atstart={'no' if begins_late else 'yes'}",
        ]

    def attach(self, pid):
        """Names the process; it runs already."""
        self.pid = pid

    def _tell(self, *words):
        prefix = os.path.join(os.path.dirname(self.path), "vgdb")
        # A process that waits in a system call is interrupted after so many milliseconds.
        command = ["vgdb", f"--pid={self.pid}", f"--vgdb-prefix={prefix}", "--max-invoke-ms=20"]
        outcome = subprocess.run([*command, *words], capture_output=True, text=True, timeout=120)
        if outcome.returncode != 0:
            sys.exit(f"vgdb {' '.join(words)} failed:\n{outcome.stderr}")

    def begin(self):
        self._tell("instrumentation", "on")

    def zero(self):
        self._tell("zero")

    def cost(self, times, act, *arguments):
        """The instructions of one time of so many, before which a quarter as many are made."""
        act(times // 4, *arguments)
        self.zero()
        act(times, *arguments)
        return self.total() / times

    def total(self):
        """The instructions of all threads since the last `zero`."""
        self._tell("dump")
        self.dump_count += 1
        with open(f"{self.path}.{self.dump_count}", errors="replace") as file:
            return int(re.search(r"^totals: (\d+)", file.read(), re.M).group(1))


def readable_binary(folder, path=None):
    """A copy of the broker that valgrind can read: old versions fail on DWARF 5."""
    original = os.path.realpath(path or binary())
    probe = subprocess.run(
        ["valgrind", "--tool=none", "--quiet", original, "--version"], capture_output=True,
        stdin=subprocess.DEVNULL, timeout=60,
    )
    if b"debuginfo" not in probe.stderr:
        return original
    copy = os.path.join(folder, os.path.basename(original))
    subprocess.run(["objcopy", "--strip-debug", original, copy], check=True)
    return copy


def source_lines(addresses):
    """The places in `Sources` that each address of the binary came from, innermost first."""


    request = "".join(f"{address:#x}\n" for address in addresses)
    outcome = subprocess.run(
        ["llvm-symbolizer", "--obj=" + binary(), "--inlines", "--functions=none"],
        input=request, text=True, capture_output=True, check=True,
    )
    places = {}
    for address, block in zip(addresses, outcome.stdout.split("\n\n")):
        found = []
        for line in block.splitlines():
            if "/Sources/" in line:
                place = line.split("/Sources/")[1].rsplit(":", 1)[0]
                if not place.endswith(":0"):
                    found.append(place)
        places[address] = found
    return places


def demangle(names):
    """Readable names of functions, by mangled name."""
    try:
        outcome = subprocess.run(
            ["swift", "demangle", "--simplified"], input="\n".join(names), text=True,
            capture_output=True, check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return {name: name for name in names}
    return dict(zip(names, outcome.stdout.splitlines()))


def print_profile(profile, count=30, unit="request"):
    """Prints what costs most, by own instructions, with callees, and by line."""
    plain = {name: name.split("'")[0] for name in profile.own if name}
    top_own = [key for key, _ in profile.own.most_common(count) if key]
    top_all = [key for key, _ in profile.inclusive.most_common(count * 2) if key]
    readable = demangle(sorted({plain.get(k, k) for k in top_own + top_all}))
    short = lambda key: readable.get(plain.get(key, key), key)[:130]
    print(f"\n{'own':>9} {'calls':>7}  function, for each {unit}")
    for key in top_own:
        print(f"{profile.own[key]:9.1f} {profile.calls[key]:7.2f}  {short(key)}")
    print(f"\n{'with callees':>12}  function")
    for key in top_all:
        print(f"{profile.inclusive[key]:12.1f}  {short(key)}")
    addresses = sorted(profile.inclusive_at)
    places = source_lines(addresses)
    own, whole = collections.Counter(), collections.Counter()
    for address in addresses:
        for place in dict.fromkeys(places[address]):
            whole[place] += profile.inclusive_at[address]
        for place in places[address][:1]:
            own[place] += profile.own_at[address]
    print(f"\n{'with callees':>12} {'own':>9}  line of source (the line may be inlined elsewhere)")
    for place, cost in whole.most_common(count * 3):
        print(f"{cost:12.1f} {own[place]:9.1f}  {place}")
