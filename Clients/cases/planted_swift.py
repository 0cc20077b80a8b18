#!/usr/bin/env python3
"""Plants one fault after the other in BelfryClient, and tells which cases find it; each must be found.

    Clients/cases/planted_swift.py      with the Python environment of broker.py

It builds a copy of the tree, which takes some minutes the first time.
"""

import pathlib
import subprocess
import sys
import tempfile

from planted import FOLDER, failed_cases

ROOT = FOLDER.parent.parent
SOURCES = pathlib.Path("Sources") / "BelfryClient"

FAULTS = {
    "after a restart nothing is asked for": (
        "ClientLoop+Observers.swift", "        lastSequence = 0\n", ""),
    "after a restart no gap is told": (
        "ClientLoop+Observers.swift", "if !observer.isRegistered, observer.wish.place == nil {",
        "if false {"),
    "a silent line is not asked": (
        "ClientLoop+Connection.swift", "        listen(for: silenceLimit / 2)\n", ""),
    "who was taken over comes back": (
        "BackOff.swift", "![1000, 1008, 4001, 4002, 4003]", "![1000, 1008, 4002, 4003]"),
    "an observer that came too late stays": (
        "ClientLoop.swift",
        "if abandoned.count < options.requestLimit { abandoned.insert(id) }", ""),
    "a refused opening is tried again": (
        "BackOff.swift", "![401, 403, 421].contains(refusal.status)", "refusal.status != 0"),
    "a busy broker is asked at once": (
        "ClientLoop+Connection.swift", "if error.isOverload { backOff.giveWay() }", ""),
    "an ask of unknown outcome is not repeated": (
        "RemoteCenter+Asks.swift",
        'refusal.slug == "draining" || refusal.slug == "outcome-unknown"',
        'refusal.slug == "draining"'),
    "an ask that nobody answers is repeated": (
        "RemoteCenter+Asks.swift", 'refusal.slug == "outcome-unknown"', "refusal.status == 504"),
    "an expired token is shown again": (
        "ClientLoop+Connection.swift", "self.url = url\n            openConnection()",
        "if lastAttempt == 1 { self.url = url }\n            openConnection()"),
    "an expired token ends the center": ("BackOff.swift", "code == 4003", "code == 0"),
}


def program(folder):
    """Builds the runner in this folder, and answers its path."""
    build = ("swift", "build", "--package-path", folder, "--product", "belfry-case-runner")
    done = subprocess.run(build, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    found = subprocess.run((*build, "--show-bin-path"), check=True, capture_output=True, text=True)
    return f"{found.stdout.strip()}/belfry-case-runner"


def main():
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            f"tar --exclude=./.build --exclude=./.git -cf - . | tar -xf - -C '{folder}'",
            shell=True, check=True, cwd=ROOT)
        for fault, (name, right, wrong) in FAULTS.items():
            path = pathlib.Path(folder) / SOURCES / name
            text = path.read_text()
            if text.count(right) != 1:
                raise SystemExit(f"{fault}: its place is not in {name} once")
            path.write_text(text.replace(right, wrong))
            found = failed_cases(program(folder))
            path.write_text(text)
            missed += not found
            print(f"{fault:44} {' '.join(found) or 'NOT FOUND'}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
