"""The classes of generated attacks: what each makes, and asks for, is drawn from a seed."""

import contextlib
import json
import struct
import time

from .clients import support
from .crowd import Crowd, entity_tag, get, mailbox, waiting_post
from .sending import add, call_often, connect


def walks(target, draw):
    """Chains of addresses with many holders and selectors; asks, actions, looks, answers, leavers."""
    hops, holders = draw.size(1, 32), draw.size(1, 1_000)
    selectors, length = draw.size(1, 64), draw.size(3, 122)
    holders = max(1, min(holders, 12_000 // hops, 400_000 // (selectors * max(1, length // 30) * hops)))
    names = [f"s{n}{draw.text(length - 3)}" for n in range(selectors)]
    crowd = Crowd(target, draw.size(1, 6))
    terms = {"ifHeld": "share", **draw.choice([{}, {"suspensionBehavior": "hold"}, {"concurrency": 1}])}
    registrations = [
        ("addObserver", {"object": f"a{hop}", "implements": names, **terms,
                         **({"next": f"a{hop + 1}"} if hop + 1 < hops or draw.chance(0.1) else {})})
        for hop in range(hops) for _ in range(holders)]
    count = len(crowd.sessions)
    for session in range(count):
        crowd.call(session, registrations[session::count])
    asked = draw.choice([names[-1], names[0], "nobody"])
    for _ in range(draw.size(1, 4)):
        kind = draw.choice(["asks", "actions", "looks", "explains", "answers", "leaves", "suspends"])
        number, session = draw.size(1, 1_000), draw.randrange(count)
        if kind == "asks":
            crowd.call(session, [("ask", {"object": "a0", "selector": asked, "wait": 0})] * number)
        elif kind == "actions":
            crowd.call(session, [
                ("addObserver", {"name": "press", "target": "a0", "selector": asked})] * draw.size(1, 200))
            crowd.request([support.post_request(
                json.dumps([{"name": "press"}] * number).encode(), "/v1/notifications")] * draw.size(1, 3))
        elif kind == "looks":
            crowd.request([get(f"/v1/explain?object=a0&selector={asked}&limit=1000")] * draw.size(1, 60))
        elif kind == "explains":
            crowd.request([get("/v1/explain?name=press&limit=1000")] * draw.size(1, 60))
        elif kind == "answers":
            crowd.call(session, [("ask", {"object": "a0", "selector": names[0], "wait": 0})] * number)
            crowd.serve(draw.randrange(count), 1, seconds=1)
        elif kind == "suspends":
            crowd.call(session, [("setSuspended", {"suspended": n % 2 == 0}) for n in range(number)])
        else:
            crowd.leave(session)
    return crowd.told()


def batches(target, draw):
    """Frames and batches of all that can be asked for, over a crowd of observers of all kinds."""
    crowd = Crowd(target, draw.size(1, 8))
    places = [f"o{n}" for n in range(draw.size(1, 50))]
    modes = [f"mode{n}" for n in range(draw.size(1, 16))]
    watchers = draw.size(1, 9_000)
    watched = draw.choice([
        {"name": "belfry.responder.changed"}, {"name": "belfry.channel.observed"}, {"name": "crowd"}, {},
        {"name": "crowd", "suspensionBehavior": "hold"}, {"object": places[0], "keyPath": "m00000"},
        {"name": "crowd", "minInterval": 1}])
    crowd.call(0, [("addObserver", watched)] * watchers)
    crowd.call(0, [("setValue", {"object": places[0], "value": draw.object_of(draw.size(1, 20_000), 4)})])

    def one():
        place, kind = draw.choice(places), draw.randrange(14)
        return [
            lambda: ("addObserver", {"object": place, "implements": ["go"], "ifHeld": draw.choice(
                ["replace", "share", "refuse"])}),
            lambda: ("addObserver", {"name": draw.choice(["crowd", draw.text(3)]), "since": 0}),
            lambda: ("removeObserver", {"name": draw.text(3)}),
            lambda: ("post", {"name": "crowd", "object": place}),
            lambda: ("post", {"name": "crowd", "style": draw.choice(["asap", "idle"]), "modes": modes}),
            lambda: ("post", {"name": "timer", "object": place, "every": draw.choice([0.1, 60]), "replaces": True}),
            lambda: ("post", {"name": "timer", "after": 60, "coalesce": [], "modes": modes}),
            lambda: ("mergeValue", {"object": places[0], "patch": {draw.text(4): 1}}),
            lambda: ("setValue", {"object": place, "keyPath": draw.path(draw.size(1, 16), "k"), "value": 1,
                                  **draw.choice([{}, {"ttl": 5}, {"lease": 5}])}),
            lambda: ("removeValue", {"object": place, "keyPath": "k"}),
            lambda: ("setSuspended", {"suspended": draw.chance()}),
            lambda: ("enterMode", {"mode": draw.choice(modes)}),
            lambda: ("explain", {"name": "crowd", "limit": 1_000}),
            lambda: ("dequeue", {"name": "timer", "object": place}),
        ][kind]()

    only = draw.chance(0.3) and one()[0]
    for _ in range(draw.size(1, 6)):
        calls = [one() for _ in range(draw.size(1, 1_000))]
        if only:
            calls = [call for call in calls if call[0] == only] * 5
        crowd.call(draw.randrange(len(crowd.sessions)), calls[:1_000])
        if draw.chance(0.3):
            crowd.request([support.post_request(json.dumps(
                [{"name": "crowd", "object": draw.choice(places)}] * draw.size(1, 1_000)).encode(),
                "/v1/notifications?report=observers")] * draw.size(1, 4))
    return crowd.told()


def waiters(target, draw):
    """Very many who wait for one thing, which then comes: a value, a mailbox, an answer, an acknowledgement."""
    kind = draw.choice(["value", "mailbox", "ask", "post"])
    count, text = draw.size(50, 2_500), draw.text(draw.size(10, 250_000))
    crowd = Crowd(target, 2)
    if kind == "value":
        crowd.call(0, [("setValue", {"object": "v", "value": {"text": text, "n": 0}})])
        request = get("/v1/values/v?wait=20", f"If-None-Match: {entity_tag(target.port, '/v1/values/v')}\r\n")
    elif kind == "mailbox":
        request = get(f"{mailbox(target.port)}?wait=20")
    elif kind == "post":
        crowd.call(0, [("addObserver", {"name": "slow", "acknowledge": True})])
        request = waiting_post("/v1/channels/slow")
    else:
        crowd.call(0, [("addObserver", {"object": "desk", "implements": ["go"]})])
        request = waiting_post("/v1/responders/desk/go")
    waiting = []
    with contextlib.suppress(OSError):
        for _ in range(count):
            client = support.connect(target.port, receive_buffer=draw.choice([None, 4_096]))
            client.sendall(request)
            waiting.append(client)
    time.sleep(0.5)
    if kind == "value":
        crowd.call(0, [("mergeValue", {"object": "v", "patch": {"n": n}}) for n in range(1, draw.size(1, 20) + 1)])
    elif kind == "mailbox":
        crowd.request([support.post_request(json.dumps({"text": text}).encode(), "/v1/channels/box")] * 2)
    elif draw.chance(0.3):
        crowd.leave(0)
    else:
        crowd.serve(0, text if kind == "ask" else True)
    time.sleep(1)
    if draw.chance():
        for client in waiting:
            client.close()
    target.keep(*waiting)
    return f"{len(waiting)} wait: {kind}, {len(text)} bytes; {crowd.told()}"


def pages(target, draw):
    """Pages of wide rows for very many connections, which read or do not."""
    crowd = Crowd(target, 3)
    kind = draw.choice(["responders", "observers", "values", "queue", "asks", "clients", "value", "explain",
                        "mailbox", "channels", "unmatched", "initial", "metrics", "openapi"])
    rows, width = draw.size(10, 3_000), draw.size(1, 900)
    path = {"value": "/v1/values/v", "explain": "/v1/explain?name=page&limit=1000",
            "metrics": "/metrics", "openapi": "/openapi.json",
            "unmatched": "/v1/reports/unmatched?limit=1000"}.get(kind, f"/v1/{kind}?limit=1000")
    wide = "\U0001f514" * (width // 4 + 1)
    if kind in ("responders", "observers", "explain", "asks"):
        names = [f"s{n:02d}{draw.text(100)}" for n in range(draw.size(1, 64))]
        crowd.call(0, [("addObserver", {"object": f"r{n}{wide}"[:230], "implements": names, "next": f"r{n + 1}",
                                        "ifHeld": "share"}) for n in range(min(rows, 60_000 // len(names)))])
        crowd.call(1, [("addObserver", {"name": "page", "target": f"r0{wide}"[:230], "selector": names[0]})] * rows)
        crowd.call(1, [("ask", {"object": f"r0{wide}"[:230], "selector": names[0], "wait": 0,
                                "userInfo": {"t": wide}})] * min(rows, 900))
    elif kind in ("value", "values", "initial"):
        crowd.call(0, [("setValue", {"object": "v", "value": draw.object_of(rows, max(1, 200_000 // rows // 4))})])
        crowd.call(0, [("setValue", {"object": f"v{n}{wide}"[:230], "value": {"t": wide}}) for n in range(rows)])
    elif kind in ("queue", "unmatched", "channels"):
        style = {"style": "idle", "coalesce": [], "modes": [f"never{n}{draw.text(100)}" for n in range(16)]}
        crowd.call(0, [("post", {"name": f"{n}{wide}"[:230], **(style if kind == "queue" else {})})
                       for n in range(rows)])
    elif kind == "mailbox":
        path = mailbox(target.port, holdLimit=10_000) + "?limit=1000"
        crowd.request([support.post_request(
            json.dumps({"text": draw.text(1_200_000 // min(rows, 1_000))}).encode(), "/v1/channels/box")]
            * min(rows, 1_000))
    if kind == "initial":
        for session in (1, 2):
            crowd.call(session, [("addObserver", {"object": "v", "keyPath": "m00000", "initial": True}),
                                 ("addObserver", {"object": "v", "initial": True, "keyPath": ""})] * draw.size(1, 400))
        return crowd.told()
    fields = draw.choice(["", "Accept-Encoding: gzip\r\n"])
    readers, sent = [], 0
    for _ in range(draw.size(20, 3_000)):
        try:
            client = support.connect(target.port, receive_buffer=draw.choice([None, 4_096]))
            client.sendall(get(path, fields) * draw.choice([1, 1, 3]))
            sent += 1
            readers.append(client)
        except OSError:
            break
        if target.is_over:
            break
    if draw.chance():
        for client in readers:
            client.settimeout(5)
            try:
                client.recv(1 << 20)
            except OSError:
                pass
            client.close()
    target.keep(*readers)
    time.sleep(1)
    return f"{sent} x {kind}, {rows} rows of {width}; {crowd.told()}"


def accounts(target, draw):
    """One table is filled, with things of one shape, until the time is over."""
    keys, length, modes = draw.size(1, 16), draw.size(1, 230), draw.size(1, 16)
    kind = draw.choice(["keyPath", "paces", "ttl", "lease", "timers", "documents", "targets", "asks", "queue",
                        "idempotency", "channels", "coalesced", "onDisconnect", "centers"])
    number = 0

    def one():
        nonlocal number
        number += 1
        name = f"{number}{'n' * length}"[:230]
        path = draw.path(keys, f"k{number}")
        return {
            "keyPath": lambda: ("addObserver", {"object": f"o{number // 1000}", "keyPath": path}),
            "paces": lambda: ("post", {"name": name, "object": name}),
            "ttl": lambda: ("setValue", {"object": f"o{number // 100}", "keyPath": path, "value": 1, "ttl": 30}),
            "lease": lambda: ("setValue", {"object": f"o{number // 100}", "keyPath": path, "value": 1, "lease": 1}),
            "timers": lambda: ("post", {"name": name, "after": 30, "coalesce": [],
                                        "modes": [f"m{n}{'m' * length}"[:120] for n in range(modes)]}),
            "documents": lambda: ("setValue", {"object": name, "value": {
                f"m{n}": {"a": {"b": {"c": n}}} for n in range(draw.size(1, 1_500))}, "ttl": 10}),
            "targets": lambda: ("addObserver", {"name": name, "target": name, "selector": "go"}),
            "asks": lambda: ("ask", {"object": "desk", "selector": "go", "wait": 0, "ttl": 10,
                                     "userInfo": {"t": "x" * length * 40}}),
            "queue": lambda: ("post", {"name": name, "style": "asap", "coalesce": [], "ttl": 10,
                                       "modes": [f"m{n}" for n in range(modes)]}),
            "idempotency": lambda: ("post", {"name": "k", "idempotencyKey": name}),
            "channels": lambda: ("addObserver", {"name": name}),
            "coalesced": lambda: ("post", {"name": name, "object": name}),
            "onDisconnect": lambda: ("post", {"name": name, "onDisconnect": True,
                                              "userInfo": {"t": "x" * length * 40}}),
            "centers": lambda: ("post", {"name": name}),
        }[kind]()

    crowd = Crowd(target, draw.size(2, 12))
    if kind == "paces":
        crowd.call(0, [("addObserver", {"minInterval": 60})])
    elif kind == "asks":
        crowd.call(0, [("addObserver", {"object": "desk", "implements": ["go"], "suspensionBehavior": "hold"})])
    elif kind == "coalesced":
        crowd.call(0, [("addObserver", {"suspensionBehavior": "coalesce", "holdLimit": 10_000}),
                       ("setSuspended", {"suspended": True})])
    until = time.monotonic() + draw.choice([2, 5])
    while time.monotonic() < until and not target.is_over:
        if kind == "centers":
            crowd.request([support.post_request(b"{}", f"/v1/centers/{number + n}{'c' * length}/channels/A")
                           for n in range(200)])
            number += 200
        else:
            session = draw.randrange(1, len(crowd.sessions))
            crowd.call(session, [one() for _ in range(500)])
    return f"{kind}, {keys} keys, {length} bytes, {modes} modes: {number:,}; {crowd.told()}"


def squares(target, draw):
    """Much of one owner or of one name, and then one event that is about all of it, again and again."""
    kind = draw.choice(["timers", "repeating", "replaced", "leases", "observers", "merges", "held", "asks",
                        "farewells", "moved", "queue", "watched"])
    count = draw.size(500, 30_000)
    crowd = Crowd(target, 4)
    calls = {
        "timers": ("post", {"name": "t", "after": 3_600, "coalesce": [], "lease": 60}),
        "repeating": ("post", {"name": "t", "every": 3_600, "coalesce": [], "lease": 60}),
        "replaced": ("post", {"name": "t", "after": 3_600, "coalesce": []}),
        "observers": ("addObserver", {"name": "one", "lifetime": "connection"}),
        "held": ("addObserver", {"name": "one", "suspensionBehavior": "hold"}),
        "asks": ("ask", {"object": "desk", "selector": "go", "wait": 0}),
        "queue": ("post", {"name": "q", "style": "idle", "coalesce": [], "modes": ["never"]}),
        "watched": ("addObserver", {"name": draw.choice(["belfry.responder.changed", "belfry.client.suspended"])}),
    }
    if kind == "asks":
        crowd.call(0, [("addObserver", {"object": "desk", "implements": ["go"], "suspensionBehavior": "hold"})])
    if kind in calls:
        per = {"asks": 1_000, "observers": 9_900, "held": 9_900, "watched": 9_900}.get(kind, count)
        for session in (1, 2):
            crowd.call(session, [calls[kind]] * min(count, per))
    elif kind in ("leases", "moved"):
        crowd.call(1, [("setValue", {"object": f"o{n // 500}", "keyPath": f"k{n}.x", "value": n, "lease": 60})
                       for n in range(min(count, 1_000))])
    elif kind == "farewells":
        for _ in range(draw.size(10, 400)):
            client = connect(target.port)
            call_often(client, [("post", {"name": "bye", "onDisconnect": True})] * 16)
            target.keep(client)
    crowd.call(3, [("setValue", {"object": "big", "value": draw.object_of(min(count, 20_000), 4)})])
    for _ in range(draw.size(1, 5)):
        event = draw.choice(["leave", "replace", "dequeue", "register", "merge", "suspend", "post", "resume"])
        session = draw.choice([1, 2])
        if event == "leave":
            crowd.leave(session)
        elif event == "replace":
            crowd.call(3, [("post", {"name": "t", "after": 3_600, "replaces": True})] * draw.size(1, 1_000))
        elif event == "dequeue":
            crowd.call(3, [("dequeue", {"name": draw.choice(["t", "q"])})])
        elif event == "register":
            crowd.call(3, [("addObserver", {"object": f"place{draw.randrange(9)}", "implements": ["go"]})]
                       * draw.size(1, 1_000))
        elif event == "merge":
            crowd.call(3, [("mergeValue", {"object": "big", "patch": {draw.text(6): n}})
                           for n in range(draw.size(1, 1_000))])
        elif event == "suspend":
            crowd.call(session, [("setSuspended", {"suspended": n % 2 == 0}) for n in range(draw.size(1, 1_000))])
        elif event == "post":
            crowd.request([support.post_request(b"{}", "/v1/channels/one")] * draw.size(1, 20))
        else:
            lost = crowd.sessions[session].welcome["session"]
            crowd.leave(session)
            crowd.call(session, [("resume", {"session": lost, "after": 0})])
    return f"{kind} x {count}; {crowd.told()}"


def churn(target, draw):
    """Clients that come, make a little of everything, and go in all the ways that there are."""
    until, number = time.monotonic() + draw.choice([2, 4]), 0
    watchers = Crowd(target, 1)
    watchers.call(0, [("addObserver", {"name": name}) for name in (
        "belfry.client.connected", "belfry.client.left", "belfry.responder.changed")] * draw.size(1, 1_000))
    made, lost = draw.size(1, 200), []
    while time.monotonic() < until and not target.is_over:
        crowd = Crowd(target, draw.size(1, 20))
        for session, client in enumerate(crowd.sessions):
            number += 1
            crowd.call(session, [draw.choice([
                ("addObserver", {"name": "n", "suspensionBehavior": "hold", "lease": draw.choice([0.1, 5])}),
                ("addObserver", {"object": f"p{number % 7}", "implements": ["go"], "ifHeld": "share"}),
                ("post", {"name": "bye", "onDisconnect": True}), ("post", {"name": "n"}),
                ("setValue", {"object": "p", "keyPath": f"k{number % 50}", "value": number, "lease": 0.5}),
                ("enterMode", {"mode": "m"}), ("ask", {"object": f"p{number % 7}", "selector": "go", "wait": 0}),
            ]) for _ in range(made)])
            if lost and draw.chance(0.4):
                crowd.call(session, [("resume", {"session": lost.pop(), "after": 0})])
            lost.append(client.welcome["session"])
            if draw.chance():
                client.socket.sendall(support.text_frame(struct.pack("!H", 1_000), opcode=8))
                client.close()
            else:
                crowd.leave(session)
        add(watchers.answers, crowd.answers)
    return f"{number} clients of {made} calls; {watchers.told()}"


CLASSES = [walks, batches, waiters, pages, accounts, squares, churn]
