"""The servers that are measured: how each is started, and which options of wsload speak to it."""

import dataclasses
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIGURATIONS = os.path.join(HERE, "peers")


@dataclasses.dataclass(frozen=True)
class Peer:
    """`argv` is a command in which {port}, {folder} and the names of Tools are filled in."""

    argv: str
    load: tuple = ()
    # The work is done by the processes that it starts.
    has_workers: bool = False
    is_pinned: bool = True
    # A file of CONFIGURATIONS that is copied into the folder with its port filled in.
    configuration: str = ""


@dataclasses.dataclass(frozen=True)
class Tools:
    """Where the programs and the certificates are."""

    built: str
    belfry: str
    certificates: str

    def words(self):
        return {
            "wsfloor": os.path.join(self.built, "wsfloor"), "belfry": self.belfry,
            "certificates": self.certificates, "configurations": CONFIGURATIONS}


def belfry_load(lifetime="connection", *more):
    # A session begins with the welcome and the answer to addObserver.
    observer = (
        '{"jsonrpc":"2.0","id":1,"method":"addObserver",'
        f'"params":{{"name":"ch%c","selector":"n","lifetime":"{lifetime}"}}}}')
    return (
        "--sub-path", "/v1/ws", "--sub-subprotocol", "belfry.v1", "--sub-acks", "2",
        "--sub-msg", observer, "--pub-path", "/v1/channels/ch%c", "--ctype", "application/json",
        "--pub-body", '{"p":"%p"}', *more)


SERVE = "{belfry} serve --log-level error --listen 127.0.0.1:{port}"
NGINX = "nginx -p {folder} -c {folder}/nginx-nchan.conf"
PEERS = {
    "belfry": Peer(f"{SERVE} --loops 1 --in-memory", belfry_load()),
    "belfry-z": Peer(
        f"{SERVE} --loops 1 --in-memory", belfry_load("connection", "--deflate")),
    "belfry-tls": Peer(
        "{belfry} serve --log-level error --listen none --tls-listen 127.0.0.1:{port} --loops 1"
        " --in-memory --tls-cert {certificates}/cert.pem --tls-key {certificates}/key.pem",
        belfry_load("connection", "--tls", "{certificates}/ca.pem")),
    # Registrations that last are committed, and more than some hundred at once are refused.
    "belfry-data": Peer(
        f"{SERVE} --loops 1 --data {{folder}}/data", belfry_load("token", "--inflight", "16")),
    "belfry-free-1": Peer(f"{SERVE} --loops 1 --in-memory", belfry_load(), is_pinned=False),
    "belfry-free-2": Peer(f"{SERVE} --loops 2 --in-memory", belfry_load(), is_pinned=False),
    "floor-now": Peer("{wsfloor} {port} now"),
    "floor-batch": Peer("{wsfloor} {port} batch"),
    "nchan": Peer(NGINX, has_workers=True, configuration="nginx-nchan.conf"),
    "nchan-z": Peer(
        NGINX, ("--deflate", "--pub-path", "/pubz/ch%c"), has_workers=True,
        configuration="nginx-nchan.conf"),
    "redis": Peer(
        "redis-server {configurations}/redis.conf --port {port}",
        ("--sub", "resp", "--pub", "resp")),
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A running peer, alone on core 0 unless it is free to run anywhere."""

    def __init__(self, name, tools, is_pinned):
        self.peer = PEERS[name]
        self.name = name
        self.folder = tempfile.mkdtemp(prefix=f"yardstick-{name}.")
        self.port = free_port()
        self.is_pinned = is_pinned and self.peer.is_pinned
        self.words = {**tools.words(), "folder": self.folder, "port": self.port}
        self._configure()
        pin = ["taskset", "-c", "0"] if self.is_pinned else []
        argv = [word.format(**self.words) for word in self.peer.argv.split()]
        with open(os.path.join(self.folder, "log"), "wb") as log:
            self.process = subprocess.Popen(
                pin + argv, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self._wait()
        except BaseException:
            self.stop()
            raise

    def _configure(self):
        if self.peer.configuration:
            with open(os.path.join(CONFIGURATIONS, self.peer.configuration)) as file:
                text = file.read().replace("@PORT@", str(self.port))
            with open(os.path.join(self.folder, self.peer.configuration), "w") as file:
                file.write(text)

    def _wait(self):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                time.sleep(0.2)
                return
            except OSError:
                time.sleep(0.02)
        with open(os.path.join(self.folder, "log"), errors="replace") as log:
            raise RuntimeError(f"{self.name} did not start: {log.read()[-500:]}")

    @property
    def load(self):
        """The options of wsload that speak to it."""
        options = [
            word.replace("{certificates}", self.words["certificates"]) for word in self.peer.load]
        return ["--port", str(self.port), *options]

    @property
    def pids(self):
        if not self.peer.has_workers:
            return [self.process.pid]
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
            return [int(word) for word in file.read().split()]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
