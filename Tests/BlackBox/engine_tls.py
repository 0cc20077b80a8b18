"""A broker of a cluster speaks TLS with a server of the engine that insists on a certificate of each client.

    engine_tls.py BELFRY NATS_SERVER FOLDER     FOLDER has ca.pem, cert.pem and key.pem, and other-ca.pem of somebody else
"""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time

BELFRY, NATS_SERVER, FOLDER = sys.argv[1:]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def path(name):
    return os.path.join(FOLDER, name)


def wait(what, test):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            if test():
                return print("ok:", what)
        except OSError:
            pass
        time.sleep(0.1)
    sys.exit(f"not within 30 s: {what}")


class Engine:
    """One server of the engine."""

    def __init__(self):
        self.port, self.monitor = free_port(), free_port()
        with open(path("engine.conf"), "w") as file:
            file.write(f"""listen: "127.0.0.1:{self.port}"
http: "127.0.0.1:{self.monitor}"
server_name: n1
max_payload: 2MB
jetstream {{ store_dir: "{path('engine')}" }}
tls {{ cert_file: "{path('cert.pem')}", key_file: "{path('key.pem')}", ca_file: "{path('ca.pem')}", verify: true }}
""")
        self.process = subprocess.Popen(
            [NATS_SERVER, "-c", path("engine.conf")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def is_healthy(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.monitor, timeout=5)
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200


class Broker:
    """A broker with these options for the engine."""

    def __init__(self, name, engine, *options):
        self.port = free_port()
        self.log_path = path(f"{name}.log")
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [BELFRY, "serve", "--listen", f"127.0.0.1:{self.port}", "--cluster", "tls", "--node", name,
                 "--engine-replicas", "1", "--durability", "process", "--log-limit", "64MiB", "--snapshot-limit", "64MiB",
                 "--engine", f"nats://localhost:{engine.port}", *options],
                stdout=subprocess.DEVNULL, stderr=log)

    def ask(self, method, target, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        connection.request(method, target, body, {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        answer.read()
        return answer.status

    def log(self):
        with open(self.log_path) as file:
            return file.read()

    def has_logged(self, *words):
        return all(word in self.log() for word in words)


def main():
    own = ("--engine-cert", path("cert.pem"), "--engine-key", path("key.pem"))
    engine = Engine()
    brokers = []
    try:
        wait("the engine is healthy", engine.is_healthy)
        good = Broker("n1", engine, "--engine-ca", path("ca.pem"), *own)
        brokers.append(good)
        wait("a broker with a certificate takes part", lambda: good.ask("GET", "/readyz") == 200)
        wait("a post is answered", lambda: good.ask("POST", "/v1/channels/a", "{}") == 200)
        nobody = Broker("n2", engine, "--engine-ca", path("ca.pem"))
        brokers.append(nobody)
        wait("one without a certificate is not let in", lambda: nobody.has_logged(
            "a server of the engine is given up", "the TLS connection failed"))
        stranger = Broker("n3", engine, "--engine-ca", path("other-ca.pem"), *own)
        brokers.append(stranger)
        wait("one that does not trust the engine says so", lambda: stranger.has_logged(
            "a server of the engine is given up", "the certificate is not trusted"))
        for broker in (nobody, stranger):
            if broker.ask("GET", "/readyz") != 503:
                sys.exit("a broker without the engine is ready")
        good.process.send_signal(signal.SIGHUP)
        wait("the certificates are read again without a fault", lambda: good.ask("POST", "/v1/channels/a", "{}") == 200)
        if "refused" in good.log():
            sys.exit(good.log())
    finally:
        for broker in brokers:
            broker.process.kill()
        engine.process.kill()


main()
