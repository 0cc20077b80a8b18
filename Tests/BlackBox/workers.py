#!/usr/bin/env python3
"""Runs the examples of work and of approval as their READMEs say, with kills in the middle.

    Tests/BlackBox/workers.py [BINARY]

Three workers share the jobs, of which one is killed and one is of the Python library; the broker is killed
too. Each job has its answer in the end, and was done at least once. The hook denies whatever happens, but for
a plain yes.
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from broker_log import BrokerLog

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".build/debug/belfry").resolve())
PATIENCE = 60
JOB_COUNT = 24


class Broker:
    """A broker with data, which may be killed and started again at its address."""

    def __init__(self, folder):
        self.folder = folder
        self.address = "127.0.0.1:0"
        self.start()

    def start(self):
        log = BrokerLog()
        self.process = subprocess.Popen(
            [BINARY, "serve", "--listen", self.address, "--data", f"{self.folder}/data"], stderr=log)
        end = time.monotonic() + PATIENCE
        while not (found := re.search(r'"listening".*?(127\.0\.0\.1:\d+)', log.text())):
            assert time.monotonic() < end and self.process.poll() is None, log.text()
            time.sleep(0.05)
        self.address = found.group(1)
        self.url = f"http://{self.address}"

    def kill(self):
        self.process.kill()
        self.process.wait()


def fate(url):
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        return json.load(answer)


def example(name, *arguments, **options):
    return subprocess.Popen([ROOT / "Examples" / name, *arguments], start_new_session=True, **options)


def kill(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def work(broker, environment):
    posting = subprocess.run(
        [ROOT / "Examples/Workers/post", str(JOB_COUNT), broker.url], env=environment, check=True,
        capture_output=True, text=True, timeout=PATIENCE)
    ids = posting.stdout.split()
    assert len(ids) == JOB_COUNT, posting
    workers = [
        example("Workers/worker", broker.url, env=environment),
        example("Workers/worker", broker.url, env=environment),
        example("Workers/worker.py", broker.url, env=environment),
    ]
    try:
        time.sleep(1)
        kill(workers.pop(0))
        broker.kill()
        broker.start()
        end = time.monotonic() + PATIENCE
        for n, id in enumerate(ids, 1):
            while True:
                state = fate(f"{broker.url}/v1/notifications/{id}")
                if state["state"] != "asked":
                    break
                assert time.monotonic() < end, f"job {n} is not done: {state}"
                time.sleep(0.1)
            assert state["state"] == "answered" and state["answer"] == n * n, state
        assert all(worker.poll() is None for worker in workers), "a worker has ended by itself"
    finally:
        for worker in workers:
            kill(worker)
    print(f"{JOB_COUNT} jobs are done, with a worker and the broker killed")


def decide(url, environment, action='{"tool":"rm"}', wait="2s"):
    hook = subprocess.run(
        [ROOT / "Examples/Approval/hook", url], input=action, text=True, capture_output=True,
        env={**environment, "WAIT": wait}, timeout=PATIENCE)
    return json.loads(hook.stdout)["decision"]


def approve(broker, environment):
    assert decide(broker.url, environment) == "deny", "nobody is there"
    assert decide("http://127.0.0.1:1", environment) == "deny", "no broker is there"
    for answer, decision in [("true", "allow"), ("false", "deny"), ('"true"', "deny"), ("{}", "deny")]:
        responder = subprocess.Popen(
            [BINARY, "respond", "deploy", "mayUse", "--url", broker.url, "--", "echo", answer],
            start_new_session=True, stdout=subprocess.DEVNULL)
        try:
            end = time.monotonic() + PATIENCE
            while not fate(f"{broker.url}/v1/responders")["responders"]:
                assert time.monotonic() < end
                time.sleep(0.05)
            assert decide(broker.url, environment, wait="20s") == decision, answer
        finally:
            responder.send_signal(signal.SIGINT)
            responder.wait()
    assert decide(broker.url, environment, action="not JSON") == "deny", "the action is no JSON"
    print("the hook allows for a plain yes, and for nothing else")


def main():
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ, "BELFRY": BINARY, "SECONDS_OF_WORK": "0.1",
            "PYTHONPATH": str(ROOT / "Clients/python/src"),
            "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        broker = Broker(folder)
        try:
            work(broker, environment)
            approve(broker, environment)
        finally:
            broker.kill()


main()
