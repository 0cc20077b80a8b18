"""Whose clients were closed without need: a broker that was well is declared down by nobody."""

import datetime
import json

# What came before may still be on its way into the log: the engine elects a leader for up to nine seconds.
MEMORY = 12


def needless(cluster, disturbed, started):
    """What is wrong by the logs of the brokers.

    `disturbed` has the operation, its number and its first and last second for each disturbance, all after `started`, by
    the clock of the wall.
    """
    found = []
    for number in range(1, cluster.nodes + 1):
        with open(f"{cluster.folder}/b{number}.log") as file:
            for line in file:
                if '"declared-down"' not in line:
                    continue
                time = json.loads(line)["time"].replace("Z", "+00:00")
                second = datetime.datetime.fromisoformat(time).timestamp() - started
                recent = [d for d in disturbed if d[2] <= second <= d[3] + MEMORY]
                if recent and not any(may_hit(operation, target, number) for operation, target, *_ in recent):
                    found.append(f"b{number} was well, and was declared down at {second:.1f}")
    return found


def may_hit(operation, target, number):
    """Whether a disturbance may keep others from hearing a broker; each is connected to any server of the engine."""
    return "engine" in operation or operation in ("cut-pair", "pause-majority") or target == number
