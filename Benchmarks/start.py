#!/usr/bin/env python3
"""How long a broker takes to start that has much in its store.

    Benchmarks/start.py [--observers 100000] [--held 100000] [--responders 0] [--values 0] [--timers 0]
        [--kept 0] [--rounds 5] [--data DIR] [--bar 1] [-- OPTION...]

Half of the observers are mailboxes, each a client of its own; the others belong to as few clients as the
limits allow. The held notifications are in mailboxes, 1,000 each, with 280 bytes of userInfo. Responders belong to as few clients as well, and each holds an address of its own;
values have 500 bytes; timers are due within a month, each with a name and object of its own in each 10,000. Then the
broker is started again and again, after a clean stop and after kill -9 in turn. What is measured is
the time from the start of the process to the 200 of /readyz; the bar is the median of each kind, 1 s for
what it has by default. The processor time until then is told too: on a busy machine it is the figure to compare.

The memory is that of the process: the most that a start had until it was ready (VmHWM), over what the broker that
was filled had before its first stop. The bar is 1.2.

The bar of 100,000 responders, values and timers each is 2 s, that of 1,000,000 timers is 10 s:

    Benchmarks/start.py --observers 0 --held 0 --responders 100000 --values 100000 --timers 100000 --bar 2
    Benchmarks/start.py --observers 0 --held 0 --timers 1000000 --bar 10 -- --timer-limit 1000000,1GiB --queue-memory 2GiB

An archive keeps notifications of 200 bytes:

    Benchmarks/start.py --observers 0 --held 0 --kept 1000000 -- --archive-limit 10,2GiB --archive-memory 4GiB \\
        --anonymous-grants post,observe,inspect,admin

With --data the filled directory stays, with what the broker had before the stop in DIR.json; a run that finds
them fills nothing, and works on a copy. What stands behind -- are options of the broker: 1,000,000 held
notifications need `--hold-limit 10000,400MiB`.
"""

import argparse
import json
import os
import select
import shutil
import signal
import statistics
import sys
import tempfile
import time

import held
import support

MEMORY_BAR = 1.2
HELD_EACH = 1_000
OBSERVERS_EACH = 10_000
BATCH = 100
VALUE_BYTES = 500


def request(path, content, method="POST"):
    body = json.dumps(content).encode()
    return (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n").encode() + body


def ask_all(port, requests, connection_count=64):
    """Sends all requests, each connection the next one after its answer, which must be 2xx.

    What is refused since too much waits for a commit is sent again.
    """
    poll = select.epoll()
    clients = {}
    requests = iter(requests)
    for _ in range(connection_count):
        first = next(requests, None)
        if first is None:
            break
        client = support.connect(port)
        client.sendall(first)
        client.setblocking(False)
        clients[client.fileno()] = [client, b"", first]
        poll.register(client, select.EPOLLIN)
    while clients:
        for number, _ in poll.poll(30):
            client, text, following = clients[number]
            text += client.recv(1 << 20)
            head, mark, body = text.partition(b"\r\n\r\n")
            found = support.LENGTH.search(head)
            if not mark or len(body) < int(found.group(1)):
                clients[number][1] = text
                continue
            if head.startswith(b"HTTP/1.1 503"):
                time.sleep(0.002)
            elif head.startswith(b"HTTP/1.1 20"):
                following = next(requests, None)
            else:
                sys.exit(f"refused: {text[:600]!r}")
            clients[number][1:] = b"", following
            if following is None:
                poll.unregister(client)
                client.close()
                del clients[number]
            else:
                client.setblocking(True)
                client.sendall(following)
                client.setblocking(False)


def fill_few(port, rows):
    """Registers these observers with as few clients as the limits allow."""
    for start in range(0, len(rows), OBSERVERS_EACH):
        client = support.WebSocketClient(port)
        session = json.loads(client.next_frame()[1])["params"]["session"]
        ask_all(port, (
            request("/v1/observers", {**row, "session": session}) for row in rows[start:start + OBSERVERS_EACH]))
        client.close()


def fill_siblings(port, options):
    """Fills in responders, values and timers."""
    fill_few(port, [
        {"object": f"desk{number}", "implements": ["decide", "inform"], "lease": 86_400}
        for number in range(options.responders)])
    note = "x" * (VALUE_BYTES - len('{"note":"","number":000000}'))
    ask_all(port, (
        request(f"/v1/values/object{number}", {"note": note, "number": 100_000 + number}, "PUT")
        for number in range(options.values)))
    info = {"text": "tea is ready"}
    ask_all(port, (
        request("/v1/notifications", [
            {"name": "Reminder", "object": f"o{(start + place) % 10_000}", "userInfo": info,
             "after": 86_400 + (start + place) * 7_919 % 2_500_000}
            for place in range(min(BATCH, options.timers - start))])
        for start in range(0, options.timers, BATCH)), 8)


def fill_archive(port, count):
    """Makes an archive, and posts what it keeps."""
    status, archive = held.ask(port, "PUT", "/v1/archives/Log", json.dumps({"bytes": 2_000_000_000}).encode())
    assert status == 201, archive
    info = json.loads(support.user_info(200))
    posts = request("/v1/notifications", [{"name": "Log", "userInfo": info}] * BATCH)
    ask_all(port, (posts for _ in range(count // BATCH)), 4)


def fill(port, observer_count, held_count):
    mailbox_count = observer_count // 2
    ask_all(port, (
        request("/v1/observers", {"name": f"Mail{number}", "lease": 86_400})
        for number in range(mailbox_count)))
    fill_few(port, [
        {"name": f"Name{number}"} for number in range(mailbox_count, observer_count)])
    info = json.loads(support.user_info())
    ask_all(port, (
        request("/v1/notifications", [
            {"name": f"Mail{(start + place) // HELD_EACH}", "userInfo": info}
            for place in range(min(BATCH, held_count - start))])
        for start in range(0, held_count, BATCH)), 8)


def start(data, more):
    """Starts a broker, and tells the seconds until it is ready: of the clock, of the processor."""
    begun = time.monotonic()
    broker = support.Broker(options=("--data", data, "--durability", "process", *more))
    while True:
        client = support.HTTPClient(broker.port)
        client.send(b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        status, _ = client.responses(1)
        client.close()
        if status == 200:
            return broker, time.monotonic() - begun, broker.cpu_seconds()
        time.sleep(0.001)


def resident_bytes(broker):
    with open(f"/proc/{broker.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak_bytes(broker):
    with open(f"/proc/{broker.pid}/status") as file:
        found = next(line for line in file if line.startswith("VmHWM:"))
    return int(found.split()[1]) * 1024


def fill_new(data, options):
    """Fills a new store, and tells how much memory the broker has with all of it, before its stop."""
    broker, seconds, _ = start(data, options.broker)
    print(f"an empty store: {seconds * 1000:.0f} ms")
    fill(broker.port, options.observers, options.held)
    fill_siblings(broker.port, options)
    if options.kept:
        fill_archive(broker.port, options.kept)
    before = resident_bytes(broker)
    broker.stop()
    return before


def prepare(data, options):
    """Fills a store, or copies one that was filled, and tells the memory before its stop."""
    if options.data is None:
        return fill_new(data, options)
    note = options.data + ".json"
    if not os.path.exists(note):
        before = fill_new(options.data, options)
        with open(note, "w") as file:
            json.dump({"residentBytes": before}, file)
    shutil.copytree(options.data, data, dirs_exist_ok=True)
    with open(note) as file:
        return json.load(file)["residentBytes"]


def check(port, options, figures):
    """What was stored is there."""
    for name in ("responders", "values", "timers"):
        if figures.get(f"belfry_{name}".encode(), 0) != getattr(options, name):
            sys.exit(f"of {getattr(options, name)} {name} there are {figures}")
    if options.held == 0:
        return
    status, page = held.ask(port, "GET", "/v1/observers?limit=1&name=Mail0")
    if status != 200 or page["observers"][0]["held"] != min(HELD_EACH, options.held):
        sys.exit(f"what was stored is not there: {status} {page}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--observers", type=int, default=100_000)
    parser.add_argument("--held", type=int, default=100_000)
    for name in ("responders", "values", "timers", "kept"):
        parser.add_argument("--" + name, type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data")
    parser.add_argument("--bar", type=float, default=1.0)
    parser.add_argument("broker", nargs="*")
    options = parser.parse_args()
    data = tempfile.mkdtemp(prefix="belfry-start.")
    peaks = []
    try:
        before = prepare(data, options)
        broker, _, _ = start(data, options.broker)
        figures = held.metrics(broker.port)
        found = {name: figures[name] for name in figures if name in (
            b"belfry_observers", b"belfry_held_notifications", b"belfry_held_bytes",
            b"belfry_responders", b"belfry_values", b"belfry_timers")}
        print(", ".join(f"{name.decode()} {value:,.0f}" for name, value in found.items()))
        times = {"a clean stop": [], "kill -9": []}
        for _ in range(options.rounds):
            for kind, list_ in times.items():
                if kind == "kill -9":
                    os.kill(broker.pid, signal.SIGKILL)
                    broker.process.wait()
                else:
                    broker.stop()
                broker, seconds, work = start(data, options.broker)
                list_.append((seconds, work))
                peaks.append(peak_bytes(broker))
        size = sum(os.path.getsize(os.path.join(data, name)) for name in os.listdir(data))
        print(f"files {size / 1e6:.0f} MB, resident {resident_bytes(broker) / 1e6:.0f} MB")
        check(broker.port, options, figures)
        broker.stop()
    finally:
        shutil.rmtree(data)
    part = max(peaks) / before
    print(f"at most {max(peaks) / 1e6:.0f} MB in a start, {before / 1e6:.0f} MB before the stop: "
          f"{part:.2f} times (bar {MEMORY_BAR})")
    isGood = part <= MEMORY_BAR
    for kind, list_ in times.items():
        works = [work for _, work in list_]
        list_ = [seconds for seconds, _ in list_]
        median = statistics.median(list_)
        isGood = isGood and median < options.bar
        print(f"after {kind}: {median * 1000:.0f} ms (bar {options.bar * 1000:.0f} ms), "
              f"{min(list_) * 1000:.0f} to {max(list_) * 1000:.0f} ms; "
              f"of the processor {statistics.median(works) * 1000:.0f} ms")
    return 0 if isGood else 1


if __name__ == "__main__":
    sys.exit(main())
