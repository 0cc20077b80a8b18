"""The part of time: loads that one client can make, and what the victim waits meanwhile.

Each load has a broker of its own without a limit of memory. The bar: the victim's post is answered and observed within
0.1 s of the worst that it felt before. A load tells when its preparations are over (`begin`).
"""

import re

from . import certificates, handshakes, looking, tokens, working
from .clients import Failure, support
from .loads import Load, Target, name_of
from .victim import Victim

WAIT_BAR_SECONDS = 0.1
HEAD = """\
| load | waits before: worst, ms | meanwhile: worst, ms | of that the broker ran, ms | and waited for a processor, ms | broker's processor time, s | done | |
| --- | ---: | ---: | ---: | ---: | ---: | --- | --- |"""
LOADS = handshakes.LOADS + working.LOADS + looking.LOADS + tokens.LOADS


def measure(load, path, scale, seconds, more):
    """One row of the table, and whether the bar is kept."""
    faults = []
    tls = certificates.TLSOptions(path, load.key_kind) if hasattr(load, "key_kind") else certificates.TLS_OFF
    keys = load.make_options() if hasattr(load, "make_options") else []
    options = ["--in-memory", *tls.options, *keys, *more]
    with support.Broker(path=path, options=options) as broker:
        ports = re.findall(r"127\.0\.0\.1:(\d+)", broker.text())
        with Victim(broker) as victim:
            before = victim.baseline()
            started = broker.cpu_seconds()

            def begin():
                nonlocal started
                victim.take()
                started = broker.cpu_seconds()

            going = Load(load, Target(broker.port, int(ports[-1]), scale, seconds))
            try:
                ending = going.wait(seconds + 120, begin)
            except Failure as failure:
                ending = "-"
                faults.append(str(failure))
            finally:
                waits = victim.take()
                going.end()
            used = broker.cpu_seconds() - started
    worst = waits.worst
    if waits.fault:
        faults.append(waits.fault)
    if waits.refusals:
        faults.append(f"the victim was refused: {waits.refused}")
    if not worst.seconds <= before.worst.seconds + WAIT_BAR_SECONDS:
        faults.append(f"a wait of {worst.seconds:.3f} s")
    row = (f"| {name_of(load)} | {before.worst.seconds * 1_000:.0f} | {worst.seconds * 1_000:.0f} | "
           f"{worst.ran * 1_000:.0f} | {worst.queued * 1_000:.0f} | {used:.2f} | {ending} | "
           f"{'; '.join(faults) or 'ok'} |")
    return row, not faults


def run(path, only, without, scale, seconds, more):
    """Prints the table; whether the bar is kept by all."""
    print(HEAD, flush=True)
    good = True
    for load in LOADS:
        if not re.search(only, name_of(load)) or without and re.search(without, name_of(load)):
            continue
        row, is_good = measure(load, path, scale, seconds, more)
        print(row, flush=True)
        good &= is_good
    return good
