#!/usr/bin/env python3
"""What callers may do that come through a proxy on the broker's own machine.

    Tests/BlackBox/proxied.py [BINARY]

nginx as Debian ships it (workers of another user), without fields, with fields, and trusted; a relay of another
user that sends no field; and programs of the broker's own user, who lose nothing. It needs root, to be other users;
what cannot be had is skipped, and said.
"""

import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from broker_log import BrokerLog

BINARY = sys.argv[1] if len(sys.argv) > 1 else ".build/debug/belfry"
PATIENCE = 60
OPTIONS = ["--keys", "--trust-proxy", "--anonymous-grants"]
ALL = "post,observe,inspect,wildcard"
faults = []


def check(name, is_good, told=""):
    print("ok  " if is_good else "FAIL", name, "" if is_good else told, flush=True)
    if not is_good:
        faults.append(name)


def wait_for(condition, what):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    sys.exit(f"this did not happen: {what}")


class Broker:
    def __init__(self, *options):
        self.log = BrokerLog()
        self.process = subprocess.Popen(
            [BINARY, "serve", "--in-memory", "--listen", "127.0.0.1:0", *options],
            stdout=subprocess.DEVNULL, stderr=self.log)
        pattern = r'"listening".*?127\.0\.0\.1:(\d+)'
        self.port = int(wait_for(lambda: re.search(pattern, self.text()), "listening").group(1))

    def text(self):
        return self.log.text()

    def warnings(self):
        return [line for line in self.text().splitlines() if "is not local" in line]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)


def exchange(port, method, path, content=None, fields=()):
    """Makes a request, and gives status and content; of a stream what has come with its head."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *fields]
    if content is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    if not any(field.startswith("Connection") for field in fields):
        lines.append("Connection: close")
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as peer:
        peer.sendall(("\r\n".join(lines) + "\r\n\r\n" + (content or "")).encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            chunk = peer.recv(65536)
            if not chunk:
                return 0, b""
            answer += chunk
        head, _, rest = answer.partition(b"\r\n\r\n")
        status = int(head.split()[1])
        is_stream = status == 101 or b"text/event-stream" in head
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        while not is_stream and not (length and len(rest) >= int(length.group(1))):
            chunk = peer.recv(65536)
            if not chunk:
                break
            rest += chunk
        return status, rest


OPENING = (
    "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol: belfry.v1")
STREAM = ("Connection: keep-alive", "Accept: text/event-stream")


def look(port, prefix="", fields=()):
    """What a caller is answered on each kind of door."""
    def status(method, path, content=None, more=()):
        return exchange(port, method, prefix + path, content, (*more, *fields))[0]

    return {
        "post": status("POST", "/v1/channels/a", "{}"),
        "batch": status("POST", "/v1/notifications", '[{"name":"a"}]'),
        "websocket": status("GET", "/v1/ws", more=OPENING),
        "events": status("GET", "/v1/events?name=a", more=STREAM),
        "overview": status("GET", "/v1/overview"),
        "metrics": status("GET", "/metrics"),
    }


def grants(port, prefix="", fields=()):
    status, content = exchange(port, "GET", prefix + "/v1/me", None, fields)
    # What nginx chunks has the JSON on one line.
    found = re.search(rb"\{.*\}", content)
    return json.loads(found.group(0))["grants"] if status == 200 and found else status


GOOD = {"post": 200, "batch": 200, "websocket": 101, "events": 200, "overview": 200, "metrics": 200}
REFUSED = {name: 401 for name in GOOD}
# A plain proxy_pass takes the fields of an opening out of the request.
REFUSED_WITHOUT_OPENING = REFUSED | {"websocket": 400}

NGINX = """
user www-data;
worker_processes 1;
daemon off;
pid %(folder)s/pid;
error_log %(folder)s/error.log;
events { worker_connections 64; }
http {
    access_log off;
    client_body_temp_path %(folder)s/body;
    proxy_temp_path %(folder)s/proxy;
    fastcgi_temp_path %(folder)s/fastcgi;
    uwsgi_temp_path %(folder)s/uwsgi;
    scgi_temp_path %(folder)s/scgi;
    map $http_upgrade $connection_upgrade { default upgrade; '' close; }
    server {
        listen 127.0.0.1:%(port)s;
        location /plain/ { proxy_pass http://127.0.0.1:%(plain)s/; }
        location /upgraded/ {
            proxy_pass http://127.0.0.1:%(plain)s/;
            proxy_http_version 1.1;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $connection_upgrade;
        }
        location /forwarded/ {
            proxy_pass http://127.0.0.1:%(plain)s/;
            %(fields)s
        }
        location /trusted/ {
            proxy_pass http://127.0.0.1:%(trusted)s/;
            %(fields)s
        }
        location /trusted-plain/ { proxy_pass http://127.0.0.1:%(trusted)s/; }
        location /open/ {
            proxy_pass http://127.0.0.1:%(open)s/;
            %(fields)s
        }
    }
}
"""
FIELDS = """proxy_http_version 1.1;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $connection_upgrade;
            proxy_set_header X-Forwarded-For $remote_addr;
            proxy_set_header X-Forwarded-Proto $scheme;"""

RELAY = """
import encodings.idna, os, socket, sys, threading
# Python itself may be where only root can read.
os.setgroups([])
os.setgid(int(sys.argv[3]))
os.setuid(int(sys.argv[2]))
def copy(source, target):
    try:
        while True:
            data = source.recv(65536)
            if not data: break
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError: pass
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
    near, _ = server.accept()
    far = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    threading.Thread(target=copy, args=(near, far), daemon=True).start()
    threading.Thread(target=copy, args=(far, near), daemon=True).start()
"""


def relay(port, user):
    """Starts a relay of another user, and gives its process and its port."""
    account = pwd.getpwnam(user)
    process = subprocess.Popen(
        [sys.executable, "-c", RELAY, str(port), str(account.pw_uid), str(account.pw_gid)],
        stdout=subprocess.PIPE, text=True)
    return process, int(process.stdout.readline())


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def check_own(broker):
    check("a program of the broker's own user may do all", look(broker.port) == GOOD,
          look(broker.port))
    for field in ["Forwarded: for=127.0.0.1", "X-Forwarded-For: 127.0.0.1", "X-Real-IP: ::1",
                  "Via: 1.1 a", "CF-Connecting-IP: 127.0.0.1"]:
        told = look(broker.port, fields=(field,))
        check(f"with {field.split(':')[0]} nothing", told == REFUSED, told)


def check_relay(broker):
    process, port = relay(broker.port, "nobody")
    try:
        told = look(port)
        check("through a relay of another user nothing", told == REFUSED, told)
        check("and it has no grants", grants(port) == [], grants(port))
        status, content = exchange(port, "POST", "/v1/channels/a", "{}")
        problem = json.loads(re.search(rb"\{.*\}", content).group(0))
        check("the problem says what helps",
              status == 401 and problem["type"].endswith("/credentials-missing")
              and all(option in problem["detail"] for option in OPTIONS), problem)
        lines = broker.warnings()
        check("the log tells of it once", len(lines) == 1, lines)
        check("the line says why, and what helps",
              all(option in "".join(lines) for option in OPTIONS)
              and " to 127.0.0.1" in "".join(lines), lines)
    finally:
        process.kill()
        process.wait()


def sequence(port):
    """The number of the last notification of the center."""
    return json.loads(exchange(port, "POST", "/v1/channels/count", "{}")[1])["seq"]


def check_gone(broker, port, prefix, name):
    """A caller that leaves at once must not make its proxy's end a closed one in time."""
    before = sequence(broker.port)
    for _ in range(300):
        with socket.create_connection(("127.0.0.1", port)) as peer:
            peer.sendall(
                f"POST {prefix}/v1/channels/gone HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                "Content-Length: 2\r\n\r\n{}".encode())
    time.sleep(1)
    check(f"{name}: who leaves at once has posted nothing", sequence(broker.port) == before + 1)


def check_nginx(nginx):
    plain = Broker()
    trusted = Broker("--trust-proxy", "127.0.0.1")
    opened = Broker("--anonymous-grants", ALL)
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        with open(folder + "/nginx.conf", "w") as file:
            file.write(NGINX % {
                "folder": folder, "port": port, "plain": plain.port, "trusted": trusted.port,
                "open": opened.port, "fields": FIELDS})
        process = subprocess.Popen([nginx, "-c", folder + "/nginx.conf"], cwd="/")

        def answers():
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return True
            except OSError:
                return False
        try:
            wait_for(answers, "nginx listens")
            for name, prefix in [
                ("a plain proxy_pass", "/plain"), ("one with Upgrade", "/upgraded"),
                ("one with fields", "/forwarded"), ("a trusted one", "/trusted"),
                ("a trusted one without fields", "/trusted-plain"),
            ]:
                is_plain = prefix in ("/plain", "/trusted-plain")
                refused = REFUSED_WITHOUT_OPENING if is_plain else REFUSED
                told = look(port, prefix)
                check(f"{name}: nothing", told == refused, told)
                told = look(port, prefix, ("X-Forwarded-For: 127.0.0.1",))
                check(f"{name}, with the caller's own field: nothing", told == refused, told)
                check(f"{name}: no grants", grants(port, prefix) == [], grants(port, prefix))
                for path in ["/", "/try?name=a", "/belfry.js", "/livez"]:
                    status = exchange(port, "GET", prefix + path)[0]
                    check(f"{name}: {path} is for everybody", status == 200, status)
            lines = "".join(plain.warnings())
            worker = f"user {pwd.getpwnam('www-data').pw_uid} "
            check("the log names the worker's user", worker in lines, lines)
            check("it tells of it once", len(plain.warnings()) == 1, lines)
            told = look(port, "/open")
            check("with --anonymous-grants everybody has them", told == GOOD, told)
            check_gone(plain, port, "/plain", "a plain proxy_pass")
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)
            for broker in (plain, trusted, opened):
                broker.stop()


if os.geteuid() != 0:
    print("skipped: only root can be other users", flush=True)
    sys.exit(0)
broker = Broker()
check_own(broker)
broker.stop()
broker = Broker()
check_relay(broker)
process, port = relay(broker.port, "nobody")
check_gone(broker, port, "", "a relay")
process.kill()
process.wait()
broker.stop()
nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
if nginx:
    check_nginx(nginx)
else:
    print("skipped: there is no nginx", flush=True)
sys.exit(f"{len(faults)} failed" if faults else 0)
