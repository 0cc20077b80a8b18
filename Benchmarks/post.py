#!/usr/bin/env python3
"""Instructions of the broker's own code for one POST, and for one delivery (callgrind).

    Benchmarks/post.py [--profile] [post|pipelined|delivery|burst ...]

Each figure is a slope: two runs that differ only in the number of posts (and, for a delivery, two
numbers of observers), so what the broker does at its start and for each connection is subtracted.
Each post or batch of posts is one turn of the loop: the next is sent after all was received.
What the kernel does is not counted. The counts hardly change from run to run, also on a busy machine.
"""

import argparse

import support

BODY = support.user_info(280)
PATHS = {
    "channels": ("/v1/channels/ButtonChange", BODY),
    "object": ("/v1/channels/ButtonChange?object=calculator", BODY),
    "notifications": (
        "/v1/notifications",
        b'{"name":"ButtonChange","object":"calculator","userInfo":' + support.user_info(224) + b"}",
    ),
}


def posts(count, batch=1, observers=0, path="channels"):
    """Work for a broker: so many posts, so many in one turn."""
    target, content = PATHS[path]
    request = support.post_request(content, target) * batch

    def work(port):
        audience = support.Observers(port, observers)
        client = support.HTTPClient(port)
        for _ in range(count // batch):
            client.send(request)
            status, receipt = client.responses(batch)
            if status != 200 or b'"matched":%d' % observers not in receipt:
                raise ValueError(f"{status} {receipt!r}")
            audience.drain(batch * observers)
        audience.finish()
        client.close()
        audience.close()

    return work


def one_post(batch, path, few=4_000, many=12_000):
    few, many = few // batch * batch, many // batch * batch
    short = support.callgrind(posts(few, batch, path=path))
    long = support.callgrind(posts(many, batch, path=path))
    return long.slope(short, many - few)


def one_delivery(batch, observers=(50, 250), few=1_600, many=2_400):
    """The slope over posts of the slope over observers."""
    ends = []
    for count in observers:
        short = support.callgrind(posts(few, batch, observers=count))
        long = support.callgrind(posts(many, batch, observers=count))
        ends.append(long.slope(short, many - few))
    return ends[1].slope(ends[0], observers[1] - observers[0])


MEASURES = {
    "post": ("one POST, alone in its turn", 6_000, lambda: one_post(1, "channels")),
    "pipelined": ("one POST of 16 in a turn", 6_000, lambda: one_post(16, "channels")),
    "object": ("one POST with an object, alone", 6_000, lambda: one_post(1, "object")),
    "notification": (
        "one POST /v1/notifications, alone", 6_000, lambda: one_post(1, "notifications")),
    "delivery": ("one delivery, one notification a turn", 1_500, lambda: one_delivery(1)),
    "burst": ("one delivery of 16 notifications a turn", 1_500, lambda: one_delivery(16)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", action="store_true", help="print where the instructions go")
    parser.add_argument("--top", type=int, default=30, help="how many rows of the profile")
    parser.add_argument("measures", nargs="*", choices=[*MEASURES, []], default=[])
    options = parser.parse_args()
    for name in options.measures or MEASURES:
        title, limit, measure = MEASURES[name]
        profile = measure()
        verdict = "ok" if profile.total <= limit else "TOO MANY"
        print(f"{name:13} {profile.total:9.0f} instructions (at most {limit}: {verdict}): {title}",
              flush=True)
        if options.profile:
            support.print_profile(profile, options.top)


if __name__ == "__main__":
    main()
