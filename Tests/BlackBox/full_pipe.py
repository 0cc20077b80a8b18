#!/usr/bin/env python3
"""A log that nobody reads stops nobody: against a broker of its own.

    full_pipe.py PATH/TO/belfry      needs nothing but Python

Standard error is a pipe of one page that is not read. Each request with wrong credentials makes a line at
level `debug`, so the pipe and the queue before it fill up; every post must be answered all the same. Then
the lines that did not fit are in /metrics, come as one line once the pipe is read, and a broker
whose log is stuck again still ends when it is told to.
"""
import fcntl
import http.client
import json
import os
import signal
import subprocess
import sys
import time

PIPE_SIZE = 1031  # F_SETPIPE_SZ
LINES = 400


def read_line(stream):
    return json.loads(stream.readline())


def ask(connection, method, target, body=None, headers={}):
    connection.request(method, target, body=body, headers=headers)
    response = connection.getresponse()
    return response.status, response.read().decode()


def metric(connection, name):
    _, text = ask(connection, "GET", "/metrics")
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith(name + " "))


def fill(connection):
    """Makes more lines than the pipe and the queue hold."""
    for _ in range(LINES):
        status, _ = ask(connection, "POST", "/v1/channels/Sale", b"{}", {"Authorization": "Bearer wrong"})
        assert status == 401, f"wrong credentials: {status}"
        status, _ = ask(connection, "POST", "/v1/channels/Sale", b"{}")
        assert status == 200, f"a post while the log is stuck: {status}"


def main(binary):
    reader, writer = os.pipe()
    fcntl.fcntl(writer, PIPE_SIZE, 4096)
    process = subprocess.Popen(
        [binary, "serve", "--listen", "127.0.0.1:0", "--in-memory", "--log-format", "json",
         "--log-level", "debug", "--log-buffer", "4KiB"], stderr=writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        entry = read_line(stream)
        while entry["message"] != "listening":
            entry = read_line(stream)
        host, port = entry["addresses"].rsplit(":", 1)
        connection = http.client.HTTPConnection(host, int(port), timeout=10)

        fill(connection)
        dropped = metric(connection, "belfry_log_dropped_total")
        assert dropped > 0, "nothing was dropped"

        # What was written and what is told to be lost is all that there was.
        told = written = 0
        while written + told < LINES:
            entry = read_line(stream)
            if entry["message"] == "lines of the log were lost":
                told += int(entry["lines"])
            else:
                written += 1
        assert told == dropped, f"{dropped} lines were dropped, and {told} told"

        fill(connection)
        process.send_signal(signal.SIGTERM)
        start = time.monotonic()
        assert process.wait(60) == 0, "the end with a stuck log"
    print(f"a log that nobody reads: {2 * LINES} posts answered, {dropped} lines dropped and told,"
          f" ended {time.monotonic() - start:.1f} s after SIGTERM")


main(sys.argv[1])
