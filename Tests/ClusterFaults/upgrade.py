"""Replaces the programs of three brokers one by one under load, and then raises the level of the cluster.

    upgrade.py OLD NEW [--seed 1]

OLD and NEW are programs, and NEW knows one level more. What the clients of faults.py were told must fit together all the time.
Before the last program is replaced the level must be refused; once it is raised OLD must not come up any more; and an entry
that no program knows must stop each broker, which says why.
"""
import argparse, asyncio, sys, time

from engine import Cluster, Nats
from faults import Judge, World, report, start_brokers
from wire import HTTP

GRANTS = "post,observe,inspect,wildcard,immediate,acknowledge,modes,forever,respond,ask,read,set,admin"
COMMAND = ("{program} serve --listen {{listen}} --engine {{engine}} --cluster {{cluster}} --node {{node}} --allow-anonymous "
           "--anonymous-grants " + GRANTS + " --allow-host {{host}} --log-limit 64MiB --snapshot-limit 64MiB")


class Rolling(World):
    """The clients of faults.py, and an operator in place of the faults."""

    async def nemesis(self, cluster, end):
        numbers = range(1, cluster.nodes + 1)
        for number in numbers:
            await asyncio.sleep(3)
            await self.replace(cluster, number, self.o.old, self.o.new)
            if number == 1:
                await self.raise_level(number, 503)
        await self.raise_level(1, 200)
        await asyncio.sleep(3)
        await self.replace(cluster, 1, self.o.new, self.o.old, is_ready=False)
        await self.expect_reason(1, "too-old", 20)
        await self.replace(cluster, 1, self.o.old, self.o.new)
        await asyncio.sleep(3)

    async def replace(self, cluster, number, program, other, is_ready=True):
        """Stops a broker in order, and starts another program in its place."""
        name = f"b{number}"
        status = await asyncio.to_thread(cluster.stop, name)
        if status not in (0, None):
            self.judge.bad("a broker that was stopped ended with", status)
        process, host, command, env = cluster.process[name]
        cluster.process[name] = process, host, [other if word == program else word for word in command], env
        cluster.restart(name)
        self.judge.say(f"{name} is {other} now")
        if is_ready and not await self.ready(40):
            self.judge.bad(name, "was not ready within 40 s")

    async def raise_level(self, number, wanted):
        status, _, body = await HTTP(*self.addresses[number - 1]).ask("POST", "/v1/cluster/upgrade", {}, timeout=8)
        self.judge.say("upgrade:", status, body)
        if status != wanted:
            self.judge.bad("an upgrade was answered", status, "and not", wanted)

    async def expect_reason(self, number, reason, seconds):
        """The broker must say within some seconds why it is not ready."""
        end, body = time.monotonic() + seconds, None
        while time.monotonic() < end:
            try:
                status, _, body = await HTTP(*self.addresses[number - 1]).ask("GET", "/readyz", timeout=3)
                if status == 503 and isinstance(body, dict) and body.get("reason") == reason:
                    return self.judge.say(f"b{number}: {body.get('detail')}")
            except (OSError, asyncio.TimeoutError, ValueError):
                pass
            await asyncio.sleep(0.2)
        self.judge.bad(f"b{number} did not say {reason}:", body)


async def run(world, cluster):
    await world.run(cluster)
    # The first byte of an entry is its version.
    Nats(cluster.url(1)).publish("belfry.test.log", bytes([99, 0, 0, 0]))
    for number in range(1, cluster.nodes + 1):
        await world.expect_reason(number, "too-old", 10)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--seed", type=int, default=1)
    o = parser.parse_args()
    o.broker, o.port, o.seconds, o.posters, o.pause = COMMAND.format(program=o.old), 26_000, 0, 4, 0.03
    o.digests, o.ops, o.max_stall, o.json = 1, "", 0, None
    judge = Judge()
    world = Rolling(o, judge)
    with Cluster(port=o.port) as cluster:
        world.addresses = start_brokers(cluster, o)
        asyncio.run(asyncio.wait_for(run(world, cluster), 300))
    sys.exit(report(o, judge))


if __name__ == "__main__":
    main()
