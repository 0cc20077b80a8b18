#!/usr/bin/env python3
"""Attacks a broker from loopback, and measures what another client feels of it.

    Tests/BlackBox/abuse.py BINARY [--part connections,memory,time,generated] [--only REGEX] [--without REGEX]
        [--limit MIB,MIB] [--scale F] [--rounds N] [--seeds A..B] [--list] [-- OPTION ...]

Four parts, of which all are done unless some are named:

- *connections*: each attack has a broker of its own with `--max-connections 1000` and short timeouts, unless
  `--rounds` sends them all, and both conformance scripts, against one process. A second process pings over a
  WebSocket every 20 ms all the while. The bars, for each attack: another client's ping is answered within 0.25 s;
  the memory of the broker (VmRSS) grows by less than 48 MiB; its descriptors are as many as before, soon
  after the attack; what the attack opened ended as documented, within 1 s of the limit that it ran into.
- *memory*: attacks that fill it, in a control group of 512 MiB and in one of 128 MiB (`abusing/memory.py`).
- *time*: loads that one client can make, and what another one waits meanwhile (`abusing/turns.py`).
- *generated*: attacks that seeds make, of nine classes (`abusing/generated.py`); `--only` names classes.

With `--rounds`, the memory after the last round is at most 1.1 times that after a quarter of them.
Options after `--` are for the broker. Python 3 and its standard library only; the attacks on TLS
take the `openssl` command, and are skipped with a broker that has no `--tls-listen`.
"""

import argparse
import os
import re
import resource
import socket
import subprocess
import sys
import time

from abusing import asking, connections, contents, frames, generated, kept, memory, turns
from abusing.certificates import TLS_OFF, TLSOptions
from abusing.clients import TIMEOUT_SECONDS, Failure, OtherClient, ask, support

PING_BAR_SECONDS = 0.25
MEMORY_BAR_MIB = 48
OPTIONS = [
    "--in-memory", "--debug-endpoints", "--max-connections", "1000", "--head-timeout",
    f"{TIMEOUT_SECONDS}s", "--body-timeout", f"{TIMEOUT_SECONDS}s", "--idle-timeout", "4s",
    "--slow-timeout", f"{TIMEOUT_SECONDS}s",
]
# What an attacker registers stays for its lease, so a long one would be taken for a leak.
ROUND_OPTIONS = [
    *OPTIONS, "--lease", "5s", *kept.full_queue_of_large.options, *kept.held_lists.options,
]
ATTACKS = (
    connections.ATTACKS + frames.ATTACKS + contents.ATTACKS + kept.ATTACKS + asking.ATTACKS)
HERE = os.path.dirname(os.path.abspath(__file__))


# --- Measuring ----------------------------------------------------------------------------------


def memory_mib(broker):
    with open(f"/proc/{broker.pid}/status") as file:
        found = re.search(r"VmRSS:\s+(\d+)", file.read())
    return int(found.group(1)) / 1_024


def descriptor_count(broker):
    return len(os.listdir(f"/proc/{broker.pid}/fd"))


def wait_for_descriptors(broker, count):
    """Descriptors of ended connections go within the linger timeout."""
    deadline = time.monotonic() + 8
    while descriptor_count(broker) > count and time.monotonic() < deadline:
        time.sleep(0.05)
    return descriptor_count(broker)


def measure(broker, attack):
    """Attacks once; returns a row of the table, and whether all bars are kept."""
    memory, descriptors = memory_mib(broker), descriptor_count(broker)
    other = OtherClient(broker.port)
    faults = []
    try:
        ending = attack(broker.tls_port if needs_tls(attack) else broker.port)
    except (Failure, OSError) as failure:
        ending = "-"
        faults.append(str(failure))
    grown = memory_mib(broker) - memory
    try:
        latencies = sorted(other.stop())
        slowest, p99 = latencies[-1], latencies[len(latencies) * 99 // 100]
    except Failure as failure:
        slowest = p99 = float("nan")
        faults.append(str(failure))
    left = wait_for_descriptors(broker, descriptors) - descriptors
    if not slowest <= PING_BAR_SECONDS:
        faults.append(f"a ping took {slowest:.3f} s")
    if grown >= MEMORY_BAR_MIB:
        faults.append(f"{grown:.1f} MiB more")
    if left > 0:
        faults.append(f"{left} descriptors are left")
    row = (f"| {name_of(attack)} | {slowest * 1_000:.0f} | {p99 * 1_000:.0f} | "
           f"{grown:+.1f} | {left} | {ending} | {'; '.join(faults) or 'ok'} |")
    return row, not faults


def name_of(attack):
    options = " ".join(getattr(attack, "options", []))
    return attack.__name__.replace("_", " ") + (f" (`{options}`)" if options else "")


HEAD = """\
| attack | slowest ping, ms | p99, ms | memory, MiB | descriptors left | ending | |
| --- | ---: | ---: | ---: | ---: | --- | --- |"""


# --- Brokers ------------------------------------------------------------------------------------


def needs_tls(attack):
    return getattr(attack, "needs_tls", False)


def start(path, options, tls, wrapper=()):
    broker = support.Broker(path=path, options=[*options, *tls.options], wrapper=wrapper)
    ports = re.findall(r"127\.0\.0\.1:(\d+)", broker.text())
    broker.tls_port = int(ports[1]) if tls.options and len(ports) > 1 else None
    return broker


def one_broker_each(attacks, path, options, tls):
    good = True
    print(HEAD, flush=True)
    for attack in attacks:
        if attack is descriptors_run_out:
            row, is_good = descriptors_run_out(path)
        else:
            more = getattr(attack, "options", [])
            attacked = tls if needs_tls(attack) else TLS_OFF
            with start(path, [*options, *more], attacked) as broker:
                row, is_good = measure(broker, attack)
        print(row, flush=True)
        good &= is_good
    return good


def conform(broker):
    """Both conformance scripts; whether neither has a failure."""
    address = f"127.0.0.1:{broker.port}"
    scripts = [
        ["http_conformance.py", address, "--get", "/livez", "--post", "/debug/echo", "--echo",
         "--deny", "/livez,DELETE", "--missing", "/nope", "--header-timeout", "3",
         "--idle-timeout", "5", "--quiet",
         # Its request takes longer than a head may here.
         "--only", "^(?!G19-byte-by-byte)"],
        ["ws_handshake.py", address, "--path", "/debug/ws", "--plain", "/livez", "--origin-denied",
         "http://evil.example"],
    ]
    good = True
    for script in scripts:
        command = [sys.executable, os.path.join(HERE, script[0]), *script[1:]]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            good = False
            print(f"{script[0]} fails:\n{done.stdout[-2_000:]}")
    return good


def rounds_on_one(attacks, count, path, options, tls):
    good, early, first = True, None, None
    attacks = [attack for attack in attacks if attack is not descriptors_run_out]
    with start(path, options, tls) as broker:
        first = descriptor_count(broker)
        for number in range(1, count + 1):
            print(f"\nround {number}\n{HEAD}", flush=True)
            for attack in attacks:
                row, is_good = measure(broker, attack)
                print(row, flush=True)
                good &= is_good
            good &= conform(broker)
            left = wait_for_descriptors(broker, first)
            memory = memory_mib(broker)
            print(f"{memory:.1f} MiB, {left} descriptors", flush=True)
            if number == max(1, count // 4):
                early = memory
        ratio = memory / early
        left = wait_for_descriptors(broker, first)
        print(f"\nmemory after round {count} to round {max(1, count // 4)}: {ratio:.2f}; "
              f"descriptors {left} of {first}")
        return good and ratio <= 1.1 and left == first


# --- Descriptors --------------------------------------------------------------------------------


def descriptors_run_out(path):
    """300 idle connections with 64 descriptors: no spin, and all is well after they are released."""
    faults = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (4_096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    options = ["--in-memory", "--max-connections", "1000", "--head-timeout", "60s",
               "--idle-timeout", "60s"]
    with support.Broker(path=path, options=options) as broker:
        # It has its descriptors when it starts, or it says that they are too few and ends.
        resource.prlimit(broker.pid, resource.RLIMIT_NOFILE, (64, 64))
        memory, descriptors = memory_mib(broker), descriptor_count(broker)
        idle = [socket.create_connection(("127.0.0.1", broker.port)) for _ in range(300)]
        time.sleep(0.5)
        before = broker.cpu_seconds()
        time.sleep(2)
        ticks = round((broker.cpu_seconds() - before) * os.sysconf("SC_CLK_TCK"))
        for client in idle:
            client.close()
        start_ = time.monotonic()
        status = ask(broker.port, b"{}", "/v1/channels/Good")
        answered = time.monotonic() - start_
        grown = memory_mib(broker) - memory
        left = wait_for_descriptors(broker, descriptors) - descriptors
    if ticks >= 20:
        faults.append(f"{ticks} CPU ticks in 2 s")
    if status != "200" or answered > 1:
        faults.append(f"{status} after {answered:.2f} s")
    if left > 0:
        faults.append(f"{left} descriptors are left")
    row = (f"| descriptors run out (`prlimit` 64, 300 idle) | - | - | {grown:+.1f} | {left} | "
           f"{ticks} CPU ticks in 2 s; {status} after {answered * 1_000:.0f} ms | "
           f"{'; '.join(faults) or 'ok'} |")
    return row, not faults


def connections_part(arguments, more):
    attacks = [a for a in [*ATTACKS, descriptors_run_out] if re.search(arguments.only, name_of(a))
               and not (arguments.without and re.search(arguments.without, name_of(a)))]
    tls = TLSOptions(arguments.binary)
    if not tls.options:
        attacks = [attack for attack in attacks if not needs_tls(attack)]
    if arguments.rounds:
        return rounds_on_one(attacks, arguments.rounds, arguments.binary, ROUND_OPTIONS + more, tls)
    return one_broker_each(attacks, arguments.binary, OPTIONS + more, tls)


def memory_part(arguments, more):
    limits = [int(limit) << 20 for limit in arguments.limit.split(",")]
    return memory.run(
        arguments.binary, limits, arguments.only, arguments.without, arguments.scale, arguments.seconds, more)


def time_part(arguments, more):
    return turns.run(
        arguments.binary, arguments.only, arguments.without, arguments.scale, arguments.seconds, more)


def generated_part(arguments, more):
    first, _, last = arguments.seeds.partition("..")
    seeds = range(int(first), int(last or first) + 1)
    return generated.run(arguments.binary, seeds, arguments.only, arguments.scale, arguments.seconds, more)


PARTS = {
    "connections": connections_part, "memory": memory_part, "time": time_part, "generated": generated_part}


def list_attacks():
    for part, attacks in (
            ("connections", [(name_of(a), a.__doc__) for a in [*ATTACKS, descriptors_run_out]]),
            ("memory", [(a.name, a.loads[0].__doc__ if len(a.loads) == 1 else None) for a in memory.ATTACKS]),
            ("time", [(name_of(load), load.__doc__) for load in turns.LOADS]),
            ("generated", [(kind.__name__, kind.__doc__) for kind in generated.CLASSES])):
        print(part, *(f"    {name}: {text}" if text else f"    {name}" for name, text in attacks), sep="\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--part", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--only", default="", help="attacks whose name this finds")
    parser.add_argument("--without", help="no attacks whose name this finds")
    parser.add_argument("--limit", default="512,128", help="memory of the control groups, in MiB")
    parser.add_argument("--scale", type=float, default=1.0, help="how much of each load")
    parser.add_argument("--seconds", type=float, default=20, help="after which a load begins nothing more")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--seeds", default="1..20", help="of the generated part")
    parser.add_argument("--list", action="store_true")
    arguments, more = parser.parse_known_args()
    if arguments.list:
        return list_attacks()
    more = [option for option in more if option != "--"]
    # What a part makes of its loads goes before the next begins.
    results = [PARTS[part](arguments, more) for part in arguments.part.split(",")]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
