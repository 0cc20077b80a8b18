"""The part of memory: attacks that fill it, each against a broker of its own with little of it.

The broker has a store, a plain and a TLS listener, and its defaults, in a control group of so many bytes. Loads
fill it, each from a process of its own; the victim posts and observes meanwhile. The bars:

- the broker lives, and nothing but a limit refuses the victim;
- the victim's post is answered and observed within 0.25 s;
- 15 s after the loads have ended, and closed all that they opened, VmRSS is below a quarter of the limit;
- killed then, and started again with its data in the same group, it is ready and takes posts.
"""

import os
import re
import signal
import tempfile
import time
import urllib.request

from . import filling, flooding
from .certificates import TLSOptions
from .clients import Failure, ask, support
from .groups import ControlGroup
from .loads import Load, Target, name_of
from .victim import Victim

WAIT_BAR_SECONDS = 0.25
RESIDENT_BAR = 1 / 4
SETTLE_SECONDS = 15
RESTART_BAR_SECONDS = 10
MIB = 1 << 20

HEAD = """\
| attack | limit, MiB | waits before; worst, ms | of that the broker ran, ms | group's peak, MiB | VmRSS at the end; after, MiB | started again, s | answers | |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | --- |"""


# --- Attacks ------------------------------------------------------------------------------------


class Attack:
    """Some loads at once."""

    def __init__(self, name, *loads):
        self.name = name
        self.loads = loads


MIXES = [
    Attack("mix of handshakes", flooding.whole_hellos, flooding.short_hellos, filling.wide_observers,
           filling.rings),
    Attack("mix of registrations", filling.wide_observers, filling.small_observers, filling.tombstones,
           filling.centers),
    Attack("mix of posts", filling.rings, filling.keys, filling.fates, filling.wide_names, filling.queued,
           filling.held_in_mailboxes),
    Attack("mix of connections", flooding.slow_readers, flooding.unfinished_bodies,
           flooding.unfinished_frames, flooding.unfinished_heads, flooding.deaf_observers),
    Attack("mix of all", flooding.whole_hellos, filling.wide_observers, filling.rings, filling.keys,
           flooding.slow_readers, flooding.unfinished_bodies, filling.held_in_mailboxes, filling.large_queued),
]
ATTACKS = [Attack(name_of(load), load) for load in flooding.LOADS + filling.LOADS] + MIXES


# --- Measuring ----------------------------------------------------------------------------------


def resident(pid, field="VmRSS"):
    """What of the process is in memory, in bytes; nothing once it has ended."""
    try:
        with open(f"/proc/{pid}/status") as file:
            found = re.search(rf"{field}:\s+(\d+)", file.read())
    except OSError:
        return 0
    return int(found.group(1)) * 1_024 if found else 0


def account(port):
    """What the broker accounts for, in bytes, by kind."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    return {kind: int(value) for kind, value in
            re.findall(r'^belfry_memory_bytes\{kind="(\w+)"\} (\d+)', text, re.M)}


def settle(broker, bar):
    """Waits until the process is below the bar, for 15 s at most; what it has then, and after how long."""
    start = time.monotonic()
    while True:
        now = resident(broker.pid)
        seconds = time.monotonic() - start
        if now < bar or seconds > SETTLE_SECONDS:
            return now, seconds
        time.sleep(0.1)


class Group:
    """A broker in a control group, with a store."""

    def __init__(self, path, tls, byte_count, more):
        self.path, self.tls, self.more = path, tls, more
        self.group = ControlGroup(byte_count)
        self.folder = tempfile.TemporaryDirectory(prefix="belfry-abuse-")

    def start(self):
        options = ["--data", os.path.join(self.folder.name, "data"), *self.tls.options, *self.more]
        broker = support.Broker(path=self.path, options=options, wrapper=self.group.wrapper)
        ports = re.findall(r"127\.0\.0\.1:(\d+)", broker.text())
        broker.tls_port = int(ports[1]) if len(ports) > 1 else None
        return broker

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.group.__exit__()
        self.folder.cleanup()


def attack_once(attack, broker, victim, scale, seconds):
    """Runs all loads of an attack; what they tell, or how they failed."""
    loads = [Load(load, Target(broker.port, broker.tls_port, scale, seconds)) for load in attack.loads]
    endings = []
    try:
        for load in loads:
            try:
                endings.append(load.wait(seconds + 60))
            except Failure as failure:
                endings.append(f"{load.name}: {failure}")
        waits = victim.take()
        at_end = resident(broker.pid)
    finally:
        for load in loads:
            load.end()
    return waits, at_end, "; ".join(endings)


def restart(group, broker, faults):
    """Kills the broker and starts it again; tells how long it took until a post was answered."""
    broker.process.send_signal(signal.SIGKILL)
    broker.process.wait()
    broker.__exit__(None, None, None)
    start = time.monotonic()
    try:
        again = group.start()
    except SystemExit as ended:
        faults.append(f"it does not start again: {str(ended)[-200:]}")
        return "-"
    status = None
    while time.monotonic() < start + RESTART_BAR_SECONDS:
        try:
            status = ask(again.port, b"{}", "/v1/channels/Again")
        except OSError:
            status = None
        if status == "200" or again.process.poll() is not None:
            break
        time.sleep(0.05)
    seconds = time.monotonic() - start
    if status != "200":
        faults.append(f"started again, a post is answered with {status or 'nothing'}")
    if again.process.poll() is None:
        again.process.send_signal(signal.SIGKILL)
    again.process.wait()
    again.__exit__(None, None, None)
    return f"{seconds:.1f}"


def faults_of(waits, before):
    if waits.fault:
        yield waits.fault
    if waits.refusals:
        yield f"the victim was refused: {waits.refused}"
    if not waits.all:
        yield "the victim posted nothing"
    elif waits.worst.seconds > max(WAIT_BAR_SECONDS, before.worst.seconds):
        yield f"a wait of {waits.worst.seconds:.3f} s"


def measure(attack, byte_count, path, tls, scale, seconds, more):
    """One row of the table, and whether all bars are kept."""
    faults = []
    with Group(path, tls, byte_count, more) as group:
        broker = group.start()
        with Victim(broker) as victim:
            before = victim.baseline()
            group.group.peak()
            waits, at_end, ending = attack_once(attack, broker, victim, scale, seconds)
            bar = byte_count * RESIDENT_BAR
            after, settled = settle(broker, bar)
            faults += faults_of(waits, before)
        peak = group.group.peak()
        if broker.process.poll() is not None:
            faults.insert(0, f"the broker ended with {broker.process.returncode}")
        elif ask(broker.port, b"{}", "/v1/channels/After") != "200":
            faults.append("a new client is not answered after the attack")
        if after >= bar:
            faults.append(f"VmRSS is {after / MIB:.0f} MiB after {settled:.0f} s")
        again = restart(group, broker, faults)
    worst = waits.worst
    row = (f"| {attack.name} | {byte_count // MIB} | {before.worst.seconds * 1_000:.0f}; "
           f"{worst.seconds * 1_000:.0f} | {worst.ran * 1_000:.0f} | {peak / MIB:.0f} | "
           f"{at_end / MIB:.0f}; {after / MIB:.0f} ({settled:.1f} s) | {again} | {ending} | "
           f"{'; '.join(faults) or 'ok'} |")
    return row, not faults


def run(path, limits, only, without, scale, seconds, more):
    """Prints the table; whether all bars are kept."""
    fault = ControlGroup.fault()
    if fault:
        print(f"The part of memory is skipped: {fault}.")
        return True
    tls = TLSOptions(path)
    print(HEAD, flush=True)
    good = True
    for byte_count in limits:
        for attack in ATTACKS:
            if not re.search(only, attack.name) or without and re.search(without, attack.name):
                continue
            row, is_good = measure(attack, byte_count, path, tls, scale, seconds, more)
            print(row, flush=True)
            good &= is_good
    return good
