#!/usr/bin/env python3
"""A clock that was a day ahead: is anything late after a start with the right one (decision 123)?

    clock_ahead.py PATH/TO/belfry      needs a C compiler, for a clock that lies to one process

A broker whose clock is a day ahead keeps a repeating timer, a timer and a value with a `ttl`; it is
killed, and starts with the right time. Then nothing may be due later than one period, one delay or
one `ttl` from there.
"""
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import crash  # noqa: E402
from crashing import Connection  # noqa: E402

CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <sys/time.h>
static const long ahead = 86400;
int clock_gettime(clockid_t id, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(id, now);
    if (code == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += ahead;
    return code;
}
"""
EVERY, DELAY = 2, 3


def main(path, folder):
    source, library = os.path.join(folder, "clock.c"), os.path.join(folder, "clock.so")
    with open(source, "w") as file:
        file.write(CLOCK)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    data = os.path.join(folder, "data")
    os.environ["LD_PRELOAD"] = library
    broker = crash.Broker(path, data, "power")
    del os.environ["LD_PRELOAD"]
    connection = Connection(broker.port)
    mailbox = connection.mailbox({"name": "Tick"})

    def ask(method, target, content=None):
        status, answer, _ = connection.ask(method, target, content)
        return status, answer

    check(ask("POST", f"/v1/channels/Tick?every={EVERY}&lease=86400", {"t": "every"})[0], 202)
    check(ask("POST", f"/v1/channels/Tick?after={DELAY}", {"t": "once"})[0], 202)
    check(ask("PUT", f"/v1/values/door/open?ttl={DELAY}", True)[0], 201)
    broker.kill()
    broker = crash.Broker(path, data, "power")
    connection = Connection(broker.port)
    start = time.monotonic()
    seen, gone = [], None
    while time.monotonic() - start < 3 * EVERY + 1:
        status, page = ask("GET", f"/v1/observers/{mailbox}/notifications?limit=1000")
        check(status, 200)
        seen = [note["userInfo"]["t"] for note in page["notifications"]]
        if gone is None and ask("GET", "/v1/values/door/open")[0] == 404:
            gone = time.monotonic() - start
        time.sleep(0.1)
    broker.process.terminate()
    broker.process.wait(30)
    assert seen.count("once") == 1, seen
    assert seen.count("every") >= 3, seen
    assert gone is not None and DELAY - 0.5 <= gone <= DELAY + 1.5, gone
    print(f"a clock a day ahead: {len(seen)} firings, the value went after {gone:.1f} s, 0 failed")


def check(found, expected):
    assert found == expected, (found, expected)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="belfry-clock-") as temporary:
        main(sys.argv[1], temporary)
