"""Classes of generated attacks on what is kept and on finer filters: archives, replays, prefixes and conditions."""

import json
import time
import urllib.parse

from .clients import support
from .crowd import Crowd, get


def condition(draw):
    """A condition of a drawn size, which posts of these classes often fulfil."""
    def one():
        return draw.choice([
            lambda: draw.randrange(9), lambda: {"atLeast": draw.randrange(9)}, lambda: {"not": draw.text(4)},
            lambda: {"prefix": draw.text(draw.size(1, 200))}, lambda: {"exists": draw.chance()},
            lambda: [draw.text(4) for _ in range(draw.size(1, 30))], lambda: {"above": 0, "below": draw.randrange(9)},
        ])()

    keys = (draw.path(draw.size(1, 8), draw.choice(["n", "m", "t"])) for _ in range(draw.size(1, 16)))
    return {key: one() for key in keys}


def finer(draw, names):
    """The filter of an observer, with a prefix, a set of names or a condition."""
    terms = draw.choice([
        lambda: {"name": draw.choice(names)}, lambda: {"namePrefix": draw.choice(names)[:draw.size(1, 200)]},
        lambda: {"names": sorted(set(draw.choices(names, k=draw.size(1, 32))))},
        lambda: {"objectPrefix": draw.text(draw.size(1, 100))}, lambda: {},
    ])()
    if draw.chance():
        terms["where"] = condition(draw)
    return terms


def content_of(draw, length):
    """What is posted: some members that conditions look for, and a text that makes it so long."""
    members = {"n": draw.randrange(9), "m": draw.text(4)}
    if draw.chance(0.3):
        members.update(draw.object_of(draw.size(1, max(1, length // 20)), 4))
    return {**members, "t": "x" * max(0, length - 60 - 16 * len(members))}


def posts(draw, names, count, length):
    """Requests with batches of posts, each batch of at most half a mebibyte."""
    each = max(1, min(1_000, 500_000 // (length + 200), count))
    batch = json.dumps([
        {"name": draw.choice(names), "object": draw.text(draw.size(1, 4)), "userInfo": content_of(draw, length),
         **draw.choice([{}, {}, {"ttl": draw.choice([1, 5])}])} for _ in range(each)]).encode()
    return [support.post_request(batch, "/v1/notifications")] * max(1, count // each)


def filters(target, draw):
    """Very many prefixes, sets and conditions, alike and distinct, and posts that are looked at by all of them."""
    crowd = Crowd(target, draw.size(2, 8))
    names = [draw.text(draw.size(2, 200)) for _ in range(draw.size(1, 200))]
    kept = draw.choice([None, finer(draw, names)])
    for session in range(len(crowd.sessions)):
        crowd.call(session, [("addObserver", {**(kept or finer(draw, names)), **draw.choice([
            {}, {"suspensionBehavior": "hold"}, {"minInterval": 1}])}) for _ in range(draw.size(1, 6_000))])
    length = draw.size(60, 400_000)
    for _ in range(draw.size(1, 6)):
        kind, session = draw.choice(["posts", "posts", "explains", "looks", "leaves", "removes"]), draw.randrange(2)
        if kind == "posts":
            crowd.request(posts(draw, names, draw.size(1, 3_000), length))
        elif kind == "explains":
            crowd.request([support.post_request(json.dumps(
                {"name": draw.choice(names), "userInfo": content_of(draw, length)}).encode(),
                "/v1/explain?limit=1000")] * draw.size(1, 40))
        elif kind == "looks":
            crowd.request([get("/v1/observers?limit=1000")] * draw.size(1, 40))
        elif kind == "leaves":
            crowd.leave(session)
        else:
            crowd.call(session, [("removeObserver", finer(draw, names)) for _ in range(draw.size(1, 1_000))])
    return f"{length} bytes; {crowd.told()}"


def archive(draw, name, is_prefix):
    # A broker without a store refuses one that is stored.
    terms = {"bytes": draw.size(4_096, 16 << 20), "stored": draw.chance(0.3), "each": draw.choice(["name", "object"])}
    if draw.chance():
        terms["count"] = draw.size(1, 100_000)
    if draw.chance():
        terms.update(age=draw.size(1, 60), keepLast=draw.size(1, 1_000))
    path = f"/v1/archives/{urllib.parse.quote(name, safe='')}" + ("?prefix=true" if is_prefix else "")
    return support.post_request(json.dumps(terms).encode(), path, "PUT")


def pasts(target, draw):
    """Archives that are filled, and all who read, forget and change them meanwhile."""
    crowd = Crowd(target, draw.size(2, 10))
    names = [draw.text(draw.size(2, 100)) for _ in range(draw.size(1, 2_000))]
    for _ in range(draw.size(1, 50)):
        crowd.request([archive(draw, draw.choice(names)[:draw.size(1, 100)], draw.chance())])
    crowd.request([archive(draw, names[0][:1], True), archive(draw, names[0], False)])
    length = draw.size(60, 100_000)
    crowd.request(posts(draw, names, draw.size(100, min(60_000, 60_000_000 // length)), length))
    for _ in range(draw.size(2, 8)):
        kind = draw.choice(["begins", "begins", "pages", "forgets", "changes", "removes", "posts", "resumes"])
        session = draw.randrange(len(crowd.sessions))
        if kind == "begins":
            crowd.call(session, [("addObserver", {**finer(draw, names), **draw.choice([
                {"since": "oldest"}, {"since": 0}, {"last": draw.size(1, 10_000)}, {"lastEach": draw.size(1, 100)},
                {"since": "2020-01-01T00:00:00Z"}])}) for _ in range(draw.size(1, 1_000))])
        elif kind == "pages":
            query = draw.choice([
                "name=" + draw.choice(names), "namePrefix=" + draw.choice(names)[:2],
                "namePrefix=a&where=" + urllib.parse.quote(json.dumps(condition(draw)))[:3_000]])
            crowd.request([get(f"/v1/notifications?{query}&limit=1000")] * draw.size(1, 60))
        elif kind == "forgets":
            crowd.request([get(f"/v1/notifications?name={draw.choice(names)}").replace(b"GET", b"DELETE")]
                          * draw.size(1, 60))
        elif kind == "changes":
            crowd.request([archive(draw, draw.choice(names)[:draw.size(1, 100)], draw.chance())
                           for _ in range(draw.size(1, 60))])
        elif kind == "removes":
            crowd.request([get(f"/v1/archives/{names[0]}").replace(b"GET", b"DELETE")])
        elif kind == "posts":
            crowd.request(posts(draw, names, draw.size(1, 3_000), length))
        else:
            lost = crowd.sessions[session].welcome["session"]
            crowd.leave(session)
            crowd.call(session, [("resume", {"session": lost, "after": draw.size(1, 1_000)})])
    time.sleep(0.5)
    return f"{len(names)} names, {length} bytes; {crowd.told()}"
