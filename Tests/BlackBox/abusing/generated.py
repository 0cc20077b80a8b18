"""The generated part: attacks that a seed makes, of nine classes; the same seed makes the same attack.

A class says what is made and what is asked for; the seed says how many, how large, in which mix, with how much
memory, with a store or without, and with a key of very many grants or without one. Each has a broker of its own. The bars, for each seed:

- the broker lives, and nothing but a limit refuses the victim;
- the victim's post is answered and observed within 0.1 s of the worst that it felt before, less what the broker's
  loop waited for a processor;
- 15 s after the load has ended VmRSS is below a quarter of the limit, where there is one, or has grown by no more
  than what the account of memory says is kept.
"""

import contextlib
import hashlib
import json
import os
import tempfile

from .classes import CLASSES as OTHERS
from .clients import Failure, ask, support
from .crowd import Draw
from .finer import filters, pasts
from .groups import ControlGroup
from .loads import Load, Target
from .memory import MIB, account, resident, settle
from .victim import Victim

CLASSES = [*OTHERS, filters, pasts]
WAIT_BAR_SECONDS = 0.1
ACCOUNT_BAR = 1.15
TOKEN = "bfy_" + "0" * 60
VERBS = ("post", "observe", "inspect", "admin", "wildcard", "immediate", "acknowledge", "modes", "respond", "ask",
         "read", "set")
LIMITS = (None, 512, 128)


def grants(draw):
    """The grants of an attacker: the last ones, behind very many, cover what it does."""
    where = {f"m{number}.{draw.text(8)}": {"not": draw.text(8)} for number in range(draw.size(1, 32))}
    rows = [{"verbs": ["post", "observe"], "names": [draw.text(9) + "*"], "objects": [draw.text(9)]}
            for _ in range(draw.size(1, 300))]
    rows += [{"verbs": ["post", "observe"], "where": where}] * draw.size(1, 32)
    verbs = [verb for verb in VERBS if draw.chance(0.9) or verb in ("respond", "ask", "inspect")]
    return rows + [{"verbs": verbs}]


class Attack:
    """What a seed makes: which class, and against which broker."""

    def __init__(self, seed, only):
        self.seed = seed
        draw = Draw(seed)
        self.limit = draw.choice(LIMITS)
        self.is_stored = draw.chance(0.3)
        self.grants = grants(draw) if draw.chance() else []
        kinds = [kind for kind in CLASSES if not only or kind.__name__ in only]
        self.kind = draw.choice(kinds)
        self.__name__ = f"{self.kind.__name__}-{seed}"

    def __call__(self, target):
        # The load has a process of its own, so the victim has no key.
        if self.grants:
            support.request_fields = f"Authorization: Bearer {TOKEN}\r\n"
        return self.kind(target, Draw(f"{self.seed} {self.kind.__name__}"))


def keys_file(folder, grants):
    path = f"{folder}/keys.json"
    digest = hashlib.sha256(TOKEN.encode()).hexdigest()
    with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        json.dump({"keys": [{"id": "attacker", "hash": f"sha256:{digest}", "grants": grants}]}, file)
    return path


def net(waits):
    """The worst wait, less what the broker's loop waited for a processor in it."""
    return max((wait.seconds - wait.queued for wait in waits.all), default=float("nan"))


def judge(attack, broker, seconds, scale):
    faults = []
    kept, was_resident = sum(account(broker.port).values()), resident(broker.pid)
    with Victim(broker) as victim:
        before = net(victim.baseline(1))
        load = Load(attack, Target(broker.port, scale=scale, seconds=seconds))
        try:
            ending = load.wait(seconds + 60)
        except Failure as failure:
            ending = "-"
            faults.append(str(failure))
        waits = victim.take()
        load.end()
        ended = victim.baseline(0.5)
    worst = max(net(waits), net(ended))
    if waits.fault or ended.fault:
        faults.append(waits.fault or ended.fault)
    if waits.refusals:
        faults.append(f"the victim was refused: {waits.refused}")
    if not worst <= before + WAIT_BAR_SECONDS:
        faults.append(f"a wait of {worst:.3f} s")
    if broker.process.poll() is not None:
        faults.insert(0, f"the broker ended with {broker.process.returncode}")
    after = resident(broker.pid)
    if attack.limit and not faults:
        after, _ = settle(broker, attack.limit * MIB / 4)
        kept = sum(account(broker.port).values()) - kept
        if after >= attack.limit * MIB / 4 and after - was_resident > kept * ACCOUNT_BAR + 4 * MIB:
            faults.append(f"VmRSS is {after / MIB:.0f} MiB, of which {kept / MIB:.0f} MiB are kept")
    if not faults and ask(broker.port, b"{}", "/v1/channels/After") != "200":
        faults.append("a new client is not answered")
    row = (f"| {attack.__name__} | {attack.limit or '-'} | {'store' if attack.is_stored else '-'} | {len(attack.grants) or '-'} | "
           f"{before * 1_000:.0f}; {worst * 1_000:.0f} | {after / MIB:.0f} | {ending[:150]} | "
           f"{'; '.join(faults) or 'ok'} |")
    return row, not faults


def measure(attack, path, seconds, scale, more):
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="belfry-abuse-"))
        group = stack.enter_context(ControlGroup(attack.limit * MIB)) if attack.limit else None
        options = ["--data", f"{folder}/data"] if attack.is_stored else ["--in-memory"]
        options += ["--keys", keys_file(folder, attack.grants)] if attack.grants else [
            "--anonymous-grants", ",".join(VERBS)]
        broker = stack.enter_context(support.Broker(
            path=path, options=[*options, *more], wrapper=group.wrapper if group else ()))
        try:
            return judge(attack, broker, seconds, scale)
        finally:
            # What it holds takes no time to put away.
            broker.process.kill()
            broker.process.wait()


def run(path, seeds, only, scale, seconds, more):
    """Prints the table; whether the bars are kept by all seeds."""
    print("| attack | limit, MiB | | grants | waits before; worst, ms | VmRSS after, MiB | done | |\n"
          "| --- | ---: | --- | ---: | ---: | ---: | --- | --- |", flush=True)
    good = True
    for seed in seeds:
        attack = Attack(seed, only)
        if attack.limit and ControlGroup.fault():
            attack.limit = None
        row, is_good = measure(attack, path, seconds, scale, more)
        print(row, flush=True)
        good &= is_good
    return good
