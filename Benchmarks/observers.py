#!/usr/bin/env python3
"""What 1,000,000 observers of other names cost a post, and how much memory they take.

    Benchmarks/observers.py [--count 1000000] [--rounds 5]

Instructions are a slope over the number of posts under callgrind; processor time is the median of
rounds that alternate between a center without those observers and one with them. Posts go to a
channel with no observer and to one with ten. Bars: 5 % more instructions, 1.3 times the time.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

import support


def program():
    path = os.path.join(support.ROOT, ".build", "release", "CenterBenchmark")
    if not os.path.exists(path):
        sys.exit("CenterBenchmark is not built (see Benchmarks/README.md)")
    return path


def instructions(elsewhere, here, posts):
    """Instructions of a whole run."""
    with tempfile.TemporaryDirectory(prefix="belfry-callgrind.") as folder:
        out = os.path.join(folder, "out")
        path = support.readable_binary(folder, program())
        subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--quiet", path,
             *map(str, (elsewhere, here, 2_000, posts))],
            input="\n\n\n", text=True, check=True, stdout=subprocess.DEVNULL,
        )
        with open(out) as file:
            return int(re.search(r"^(?:totals|summary): (\d+)", file.read(), re.M).group(1))


def instructions_of_post(elsewhere, here, few=2_000, many=12_000):
    return (
        instructions(elsewhere, here, many) - instructions(elsewhere, here, few)
    ) / (many - few)


def run(elsewhere, here, posts):
    """Resident bytes of the registered observers, and microseconds of processor time for a post."""
    # Past the 100,000 fates that are kept nothing grows any more.
    arguments = map(str, (elsewhere, here, 120_000, posts))
    with subprocess.Popen(
        [program(), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        def resident():
            with open(f"/proc/{process.pid}/statm") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        def step(expected):
            line = process.stdout.readline().strip()
            if line != expected:
                sys.exit(f"expected {expected}, got {line!r}")
            size = resident()
            process.stdin.write("\n")
            process.stdin.flush()
            return size

        empty, registered = step("empty"), step("registered")
        step("warm")
        return registered - empty, int(process.stdout.readline()) / posts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--posts", type=int, default=300_000)
    options = parser.parse_args()
    failed = False
    for here in (0, 10):
        times = {0: [], options.count: []}
        for _ in range(options.rounds):
            for elsewhere in times:
                size, time = run(elsewhere, here, options.posts)
                times[elsewhere].append(time)
        without, with_them = (statistics.median(times[key]) for key in times)
        ratio = statistics.median(b / a for a, b in zip(*times.values()))
        print(f"{here} observers here: {without:.3f} us a post without, {with_them:.3f} us with "
              f"{options.count} elsewhere; median ratio {ratio:.3f} (at most 1.3); "
              f"load {os.getloadavg()[0]:.1f}", flush=True)
        print(f"  resident memory: {size / options.count:.0f} bytes an observer", flush=True)
        before = instructions_of_post(0, here)
        after = instructions_of_post(options.count, here)
        print(f"  instructions of a post in the center: {before:.0f} without, {after:.0f} with: "
              f"{100 * (after / before - 1):+.2f} % (at most +5 %)", flush=True)
        failed = failed or ratio > 1.3 or after > 1.05 * before
    sys.exit(failed)


if __name__ == "__main__":
    main()
