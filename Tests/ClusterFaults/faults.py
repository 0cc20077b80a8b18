#!/usr/bin/env python3
"""Disturbs three nodes at random, and judges from outside whether the five laws still hold.

    faults.py --seed 7 --seconds 40 --broker 'belfry serve --listen {listen} --engine {engine} --cluster {cluster}
        --node {node} --allow-anonymous --allow-host {host}'     hosts in namespaces (root)
    faults.py --hosts loopback --ops kill-broker,pause-broker --broker …     without root: no cuts
    faults.py --one http://127.0.0.1:8080 --seconds 10           one running broker, nothing disturbed: judges the judge

The judge knows only the public API. Clients: posters (with and without keys; plain and asap), observers over
WebSocket that move between nodes with and without `after`, one that acknowledges, mailboxes read at any node,
tokens removed at another node, leases. It ends with "passed" or with what was found; the seed repeats the schedule,
not the timing. Options of interest: --ops (see OPS), --max-stall SECONDS, --json FILE, KEEP=1 keeps logs.
"""
import argparse, asyncio, collections, json, os, random, shlex, sys, time
from urllib.parse import urlsplit

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fences
from engine import Cluster
from wire import HTTP, RPC, Gone

NAMES = ["a", "b", "c", "d"]
OPS = ["cut", "cut-peers", "cut-pair", "kill-broker", "kill-engine", "pause-broker", "pause-engine", "stop-broker",
       "pause-majority"]
NOT_NOW = (503, 504)                           # nothing was accepted; nobody knows
ON_THE_WAY = 4                                 # frames that one lost connection may take with it, where no `after` says so
LOST = (Gone, OSError, asyncio.TimeoutError, asyncio.IncompleteReadError, ValueError)


class Judge:
    """Everything that clients were told, and whether it fits together."""

    def __init__(self):
        self.found, self.counts = [], collections.Counter()
        self.number, self.tag_of, self.ids_of = {}, {}, collections.defaultdict(set)
        self.answered, self.stalls, self.start = {}, [], time.monotonic()
        self.observer_ids = set()
        self.last = 0
        self.disturbed = []

    def bad(self, *words):
        line = " ".join(map(str, words))
        self.found.append(line)
        print("%7.1f !! %s" % (time.monotonic() - self.start, line), flush=True)

    def say(self, *words):
        print("%7.1f" % (time.monotonic() - self.start), *words, flush=True)

    def registered(self, observer, where):
        """Law 4: an id is given once."""
        if observer in self.observer_ids:
            self.bad("law 4: the id", observer, "was given twice, the second time by", where)
        self.observer_ids.add(observer)

    def saw(self, seq, id, where, tag=None):
        """Law 2: one number, one notification, whoever tells it."""
        self.last = max(self.last, seq)
        if self.number.setdefault(seq, id) != id:
            self.bad("law 2: seq", seq, "is", self.number[seq], "and", id, "at", where)
        if tag is not None:
            self.ids_of[tag].add(id)
            if self.tag_of.setdefault(id, tag) != tag:
                self.bad("law 2:", id, "carries", tag, "and", self.tag_of[id])

    def answer(self, tag, post, receipt):
        self.answered[tag] = (post, receipt)
        if "seq" in receipt:
            self.saw(receipt["seq"], receipt["id"], "a receipt", tag)
            if receipt["matched"] != sum(receipt[k] for k in ("delivered", "held", "coalesced", "dropped")):
                self.bad("law 3: the receipt does not add up:", receipt)


class World:
    def __init__(self, options, judge):
        self.o, self.judge, self.random = options, judge, random.Random(options.seed)
        self.posting, self.running, self.addresses = True, True, []
        self.posted_as, self.run_name = {}, os.urandom(4).hex()

    def node(self):
        return self.random.choice(self.addresses)

    def http(self, address=None):
        return HTTP(*(address or self.node()))

    # -- posters
    async def poster(self, k):
        r, j, n, http = random.Random(f"{self.o.seed}.p{k}"), self.judge, 0, None
        while self.posting:
            n += 1
            tag = f"{self.run_name}.{k}.{n}"   # no two runs against one broker share a key
            post = {"name": r.choice(NAMES), "object": r.choice([None, "o"]), "userInfo": {"tag": tag}}
            post = {key: value for key, value in post.items() if value is not None}
            if r.random() < 0.25:
                post["style"] = "asap"
            once = r.random() < 0.4            # without a key: never sent twice
            fields = ("Prefer: respond-async",) + (() if once else (f"Idempotency-Key: {tag}",))
            begin, answer = time.monotonic(), None
            while answer is None:
                try:
                    http = http or self.http()
                    status, _, answer = await http.ask("POST", "/v1/notifications", post, fields, timeout=10 if once else 3)
                    if status not in (200, 202):
                        if status not in (503, 504, 429):
                            j.bad("a post was answered", status, answer)
                        answer = None
                        refused = status == 503
                    elif not once and r.random() < 0.06:
                        again = self.http()
                        status2, head2, answer2 = await again.ask("POST", "/v1/notifications", post, fields, timeout=3)
                        again.close()
                        if status2 in (200, 202):
                            j.counts["keys repeated"] += 1
                            if answer2["id"] != answer["id"] or answer2.get("seq") != answer.get("seq"):
                                j.bad("the same key, another answer:", answer, answer2)
                            if head2.get("idempotency-replayed") != "true":
                                j.bad("a repeated key is not marked as replayed:", answer2)
                        elif status2 not in NOT_NOW:
                            j.bad("a repeated key was answered", status2, answer2)
                except LOST:
                    refused = False
                    if answer is not None and "id" not in answer:
                        answer = None
                if answer is None:
                    j.counts["posts tried again"] += 1
                    http = None
                    await asyncio.sleep(0.1)
                    if once and not refused:   # nobody knows: it may have happened
                        j.counts["posts of unknown outcome"] += 1
                        break
                    if time.monotonic() - begin > 60:
                        return j.bad("a post was not answered for a minute:", tag)
            if answer is None:
                continue
            j.stalls.append((time.monotonic() - begin, begin - j.start))
            j.answer(tag, post, answer)
            await asyncio.sleep(r.expovariate(1 / self.o.pause))

    # -- observers over WebSocket
    async def observer(self, k, keeps_after, acknowledges):
        r, j = random.Random(f"{self.o.seed}.o{k}"), self.judge
        me = self.observers[k] = Observer(k, j, acknowledges, keeps_after, r)
        names = r.sample(NAMES, 1 if acknowledges else 2)
        home = None
        while self.running:
            link, address = None, self.node()
            try:
                me.generation += 1
                link = await RPC(me.message_of(me.generation)).open(*address)
                if me.session is None:
                    await me.register(link, names)
                else:
                    params = {"session": me.session}
                    if keeps_after:
                        params["after"] = me.high
                    answer = await link.call("resume", params, timeout=6)
                    if "problem" in answer:
                        status = answer["problem"].get("data", {}).get("status")
                        if status not in NOT_NOW:
                            j.bad("observer", k, "could not resume:", answer["problem"])
                        raise Gone()
                    j.counts["resumed elsewhere" if home not in (None, address) else "resumed at the same node"] += 1
                    if not keeps_after:
                        while "problem" in await link.call("setSuspended", {"suspended": False}):
                            await asyncio.sleep(0.2)   # nothing was done: the client is suspended still
                home = address
                while self.running and not link.code:
                    await asyncio.sleep(r.uniform(0.1, 0.4))
                    await link.ping()
                    if r.random() < 0.05 and not self.quiet:
                        j.counts["moved by itself"] += 1
                        if not keeps_after:    # what is on its way when a client leaves is lost for it, unless it says where it was
                            await link.call("setSuspended", {"suspended": True})
                        break
            except LOST:
                j.counts["observers lost their connection"] += 1
                me.ends += 1
                await asyncio.sleep(r.uniform(0.05, 0.4))
            finally:
                if link:
                    if link.code == 4001 and self.running:
                        j.counts["taken over"] += 1
                    link.cut()
                    await asyncio.sleep(0)

    # -- mailboxes, read at any node
    async def mailbox(self, k):
        r, j, box = random.Random(f"{self.o.seed}.m{k}"), self.judge, None
        name, after = r.choice(NAMES), None
        me = self.boxes[k] = {"name": name, "got": {}, "gaps": [], "since": None, "order": []}
        while self.running:
            try:
                http = self.http()
                if box is None:
                    status, _, answer = await http.ask("POST", "/v1/observers", {"name": name}, timeout=8)
                    if status == 201:
                        box, me["since"] = answer["token"], answer["since"]
                        j.registered(answer["id"], "a mailbox")
                else:
                    path = f"/v1/observers/{box}/notifications?limit=100" + ("" if after is None else f"&after={after}")
                    wait = ("Prefer: wait=1",) if r.random() < 0.3 else ()
                    status, _, answer = await http.ask("GET", path, None, wait, timeout=6)
                    if status == 200:
                        me["gaps"] += answer["gaps"]
                        before = after or 0
                        for n in answer["notifications"]:
                            j.saw(n["seq"], n["id"], f"mailbox {k}", n["userInfo"]["tag"])
                            if n["seq"] <= before:
                                j.bad("law 2: mailbox", k, "shows", n["seq"], "after", before)
                            before = n["seq"]
                            me["got"][n["id"]] = n["seq"]
                        if answer["notifications"] and r.random() < 0.9:
                            after = answer["next"]
                        j.counts["mailbox looks"] += 1
                    elif status not in NOT_NOW:
                        j.bad("mailbox", k, "was answered", status, answer)
                http.close()
            except LOST:
                j.counts["mailbox looks that failed"] += 1
            await asyncio.sleep(r.uniform(0.05, 0.3))
        me["done"] = True

    # -- tokens: registered here, removed there, gone everywhere
    async def remover(self):
        r, j = random.Random(f"{self.o.seed}.r"), self.judge
        while self.posting:
            await asyncio.sleep(r.uniform(0.2, 0.8))
            try:
                one, two, three = (self.http() for _ in range(3))
                status, _, made = await one.ask("POST", "/v1/observers", {"name": r.choice(NAMES)}, timeout=8)
                if status != 201:
                    continue
                j.registered(made["id"], "a mailbox")
                status, _, _ = await two.ask("GET", f"/v1/observers/{made['token']}", timeout=5)
                if status not in (200, *NOT_NOW):
                    j.bad("a token of one node is", status, "at another, right after the 201")
                status, _, _ = await two.ask("DELETE", f"/v1/observers/{made['token']}", timeout=8)
                if status not in (204, *NOT_NOW):
                    j.bad("the removal at another node was answered", status)
                if status == 204:
                    self.removed.append(made["token"])
                    for http in (three, one, two):
                        status, _, tomb = await http.ask("GET", f"/v1/observers/{made['token']}/notifications", timeout=5)
                        if status not in (410, *NOT_NOW):
                            j.bad("law 4: a removed token is", status, "and not 410")
                        elif status == 410:
                            j.counts["tombstones seen"] += 1
                for http in (one, two, three):
                    http.close()
            except LOST:
                pass

    # -- leases: never early; late by no more than the disturbance
    async def leaser(self, k):
        r, j = random.Random(f"{self.o.seed}.l{k}"), self.judge
        while self.posting:
            try:
                status, _, made = await self.http().ask("POST", "/v1/observers", {"name": "unposted", "lease": 3}, timeout=8)
                if status != 201:
                    await asyncio.sleep(0.5)
                    continue
                j.registered(made["id"], "a mailbox with a lease")
                for pause in [r.uniform(0.3, 1.2) for _ in range(r.randint(0, 3))] + [2.0]:
                    asked = time.monotonic()   # the lease begins when the look before was accepted, so not before this
                    await asyncio.sleep(pause)
                    sent = time.monotonic()
                    status, _, answer = await self.http().ask("GET", f"/v1/observers/{made['token']}/notifications", timeout=8)
                    took = time.monotonic() - sent
                    if status == 410 and time.monotonic() - asked < 2.95:
                        j.bad("a lease of 3 s ended within %.2f s (%s)" % (time.monotonic() - asked, answer))
                    if status != 200 or took > 0.9:
                        break
                    j.counts["leases seen alive"] += 1
                else:
                    self.leases.append(made["token"])
            except LOST:
                pass
            await asyncio.sleep(r.uniform(0.1, 0.5))

    # -- disturbances
    async def nemesis(self, cluster, end):
        j, r, ops = self.judge, self.random, self.o.ops.split(",")
        nodes = range(1, cluster.nodes + 1)
        while time.monotonic() < end:
            await asyncio.sleep(r.uniform(0.5, 2.5))
            op, i, seconds = r.choice(ops), r.choice(nodes), r.choice([0.7, 2, 4, 7])
            j.say(op, i, seconds)
            j.counts["op " + op] += 1
            began = time.monotonic() - j.start
            if op == "cut":
                cluster.cut(i)
            elif op == "cut-peers":
                cluster.cut_from_peers(i)
            elif op == "cut-pair":
                cluster.cut_pair(i, i % cluster.nodes + 1)
            elif op == "kill-broker":
                cluster.kill(f"b{i}")
            elif op == "kill-engine":
                cluster.kill(f"n{i}")
            elif op == "stop-broker":
                await asyncio.get_running_loop().run_in_executor(None, cluster.stop, f"b{i}")
            elif op in ("pause-broker", "pause-engine"):
                cluster.pause(("b" if op == "pause-broker" else "n") + str(i))
            elif op == "pause-majority":
                cluster.pause("n1")
                cluster.pause("n2")
            await asyncio.sleep(seconds / 2 if op.startswith(("kill", "stop")) else seconds)
            if op.startswith("cut"):
                cluster.heal(i)
            elif op in ("kill-broker", "stop-broker"):
                cluster.restart(f"b{i}")
            elif op == "kill-engine":
                cluster.restart(f"n{i}")
            elif op == "pause-majority":
                cluster.go_on("n1")
                cluster.go_on("n2")
            else:
                cluster.go_on(("b" if op == "pause-broker" else "n") + str(i))
            j.disturbed.append((op, i, began, time.monotonic() - j.start))
        for name in cluster.process:
            if not cluster.alive(name):
                j.bad(name, "has ended by itself")

    async def ready(self, seconds):
        """Whether every node says that it is ready, within so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if all([(await HTTP(*a).ask("GET", "/readyz", timeout=1))[0] == 200 for a in self.addresses]):
                    return True
            except LOST:
                pass
            await asyncio.sleep(0.2)
        return False

    # -- the whole
    async def run(self, cluster):
        j, o = self.judge, self.o
        self.observers, self.boxes, self.removed, self.leases, self.quiet = {}, {}, [], [], False
        if not await self.ready(40):
            return j.bad("the nodes were not ready within 40 s")
        j.say("ready")
        readers = [asyncio.create_task(self.observer(k, k % 3 != 2, k == 5)) for k in range(6)]
        readers += [asyncio.create_task(self.mailbox(k)) for k in range(2)]
        await asyncio.sleep(1.5)
        writers = [asyncio.create_task(self.poster(k)) for k in range(o.posters)]
        writers += [asyncio.create_task(self.remover()), asyncio.create_task(self.leaser(0)), asyncio.create_task(self.leaser(1))]
        if cluster:
            await self.nemesis(cluster, time.monotonic() + o.seconds)
            cluster.heal()
        else:
            await asyncio.sleep(o.seconds)
        healed = time.monotonic()
        j.say("--- nothing is disturbed any more")
        if not await self.ready(30):
            j.bad("a node was not ready 30 s after the last disturbance")
        j.counts["seconds until all ready"] = round(time.monotonic() - healed, 1)
        await asyncio.sleep(2)
        self.posting, self.quiet = False, True
        await asyncio.wait(writers, timeout=70)
        await self.settle()
        await self.compare_nodes(cluster)
        self.running = False
        await asyncio.wait(readers, timeout=5)

    async def settle(self):
        """Everything that was answered must arrive, or be told as lost."""
        j, end = self.judge, time.monotonic() + 20
        await self.read_fates()
        while time.monotonic() < end:
            missing = self.missing()
            if not missing:
                break
            await asyncio.sleep(0.5)
        for who, what in self.missing().items():
            j.bad("law 3:", who, "misses", len(what), "and was told no gap:", what[:5])
        for tag, ids in j.ids_of.items():
            if len(ids) > 1:
                j.bad("one post, more than one notification:", tag, sorted(ids))

    async def read_fates(self):
        """What became of the posts that were queued, asked at any node."""
        j, http = self.judge, None
        for tag, (post, receipt) in j.answered.items():
            if "outcome" not in receipt:
                continue
            id, seen, end = receipt["id"], set(), time.monotonic() + 15
            if receipt["outcome"] == "coalesced" and j.number and receipt["into"] == id:
                j.bad("a post is coalesced into itself:", receipt)
            while time.monotonic() < end:
                try:
                    http = http or self.http()
                    status, _, fate = await http.ask("GET", f"/v1/notifications/{id}", timeout=3)
                except LOST:
                    http = None
                    continue
                if status == 200 and fate["state"] == "posted":
                    j.saw(fate["receipt"]["seq"], id, "a fate")
                    self.posted_as[tag] = (id, fate["receipt"]["seq"])
                    break
                if status == 200 and fate["state"] == "coalesced":
                    if id in seen:
                        j.bad("a circle of coalesced posts at", id)
                        break
                    seen.add(id)
                    id = fate["into"]
                    j.counts["coalesced posts followed"] += 1
                elif status == 404:
                    j.bad("law 3: an answered post has no fate:", tag, receipt)
                    break
                else:
                    await asyncio.sleep(0.1)
            else:
                j.bad("law 1: an asap post was not posted:", tag, receipt)

    def missing(self):
        """By observer: the answered posts that it should have and has not, and no gap says so."""
        j, posts = self.judge, {}
        for tag, (post, receipt) in j.answered.items():
            id, seq = (receipt["id"], receipt["seq"]) if "seq" in receipt else self.posted_as.get(tag, (None, None))
            if id:
                posts[id] = (seq, post["name"])
        result = {}
        for who, watcher in [(f"observer {k}", w) for k, w in self.observers.items()]:
            lost = [seq for id, (seq, name) in posts.items() for o in watcher.mine.values()
                    if o["name"] == name and seq > o["since"] and id not in o["got"]
                    and not any(g["firstSeq"] <= seq <= g["lastSeq"] for g in o["gaps"])]
            told = sum(1 for id, (seq, name) in posts.items() for o in watcher.mine.values()
                       if o["name"] == name and seq > o["since"] and id not in o["got"])
            j.counts[f"told by a gap, {who}"] = told - len(lost)
            if not watcher.keeps_after and len(lost) <= ON_THE_WAY * watcher.ends:
                j.counts[f"on the way when a connection ended, {who}"] = len(lost)
                lost = []                      # at most once, without `after` (rule D14)
            if lost:
                result[who] = sorted(lost)
        for k, box in self.boxes.items():
            if box["since"] is None:
                continue
            lost = [seq for id, (seq, name) in posts.items() if name == box["name"] and seq > box["since"]
                    and id not in box["got"] and not any(g["firstSeq"] <= seq <= g["lastSeq"] for g in box["gaps"])]
            if lost:
                result[f"mailbox {k}"] = sorted(lost)
        return result

    async def listing(self, address):
        """The ids of all observers, as one node lists them."""
        http, found, cursor = HTTP(*address), [], None
        while True:
            path = "/v1/observers?limit=1000" + (f"&cursor={cursor}" if cursor else "")
            status, _, page = await http.ask("GET", path, timeout=5)
            if status != 200:
                self.judge.bad("the listing of observers was answered", status, page)
                break
            found += [row["id"] for row in page["observers"]]
            cursor = page.get("next")
            if not cursor:
                break
        http.close()
        return sorted(found)

    async def compare_nodes(self, cluster):
        """All nodes tell the same of observers, tombstones and ended leases."""
        j = self.judge
        while True:
            rows = [await self.listing(address) for address in self.addresses]
            if await self.listing(self.addresses[0]) == rows[0]:
                break                          # else a lease has ended meanwhile
        if any(row != rows[0] for row in rows):
            j.bad("nodes list different observers:", [len(row) for row in rows])
        for address in self.addresses:
            http = HTTP(*address)
            for token in self.removed[-50:]:
                status, _, _ = await http.ask("GET", f"/v1/observers/{token}", timeout=5)
                if status != 410:
                    j.bad("law 4: a removed token is", status, "at", address)
            http.close()
        if len(set(rows[0])) != len(rows[0]):
            j.bad("law 4: an id is listed twice")
        end = time.monotonic() + 12
        for token in self.leases:
            while True:
                status, _, _ = await self.http().ask("GET", f"/v1/observers/{token}", timeout=5)
                if status == 410:
                    break
                if time.monotonic() > end:
                    j.bad("a lease of 3 s has not ended:", token.split(".")[0], status)
                    break
                await asyncio.sleep(0.5)
        j.counts["leases seen ended"] = len(self.leases)
        if cluster and self.o.digests:
            states = []
            for _ in range(50):                # the log never rests: until all are at one place
                states = [(await HTTP(*a).ask("GET", "/v1/cluster", timeout=3))[2] for a in self.addresses]
                if len({s["index"] for s in states}) == 1:
                    break
                await asyncio.sleep(0.05)
            else:
                j.say("the nodes were never seen at one index")
            if len({s["index"] for s in states}) == 1 and len({s["digest"] for s in states}) != 1:
                j.bad("the digests differ:", states)


class Observer:
    """What one client got, over all of its connections."""

    def __init__(self, k, judge, acknowledges, keeps_after, random):
        self.k, self.judge, self.acknowledges, self.random = k, judge, acknowledges, random
        self.keeps_after, self.ends = keeps_after, 0
        self.session, self.high, self.mine, self.generation = None, 0, {}, 0

    async def register(self, link, names):
        mine = {}
        session = link.welcome["session"]
        self.early = []
        for name in names:
            selector = f"s{self.k}.{name}"
            mine[selector] = {"name": name, "since": None, "got": {}, "gaps": [], "last": 0}
        self.mine = mine
        for name in names:
            answer = await link.call("addObserver", {
                "name": name, "selector": f"s{self.k}.{name}", "suspensionBehavior": "hold", "acknowledge": self.acknowledges}, timeout=8)
            if "problem" in answer:
                self.mine = {}
                raise Gone()
            self.judge.registered(answer["id"], f"observer {self.k}")
            mine[f"s{self.k}.{name}"]["since"] = answer["since"]
        self.session = session

    def message_of(self, generation):
        """A listener for one connection: what an old one still says after it was left is not looked at."""
        def on_message(link, message):
            if generation == self.generation:
                self.message(link, message)
        return on_message

    def message(self, link, message):
        j, method, p = self.judge, message["method"], message["params"]
        if method == "belfry.gap":
            target = self.mine.get(p["selector"])
            if target is not None:
                target["gaps"].append(p)
                j.counts["gaps " + p["reason"]] += 1
            return
        if method.startswith("belfry."):
            return
        target = self.mine.get(method)
        if target is None:
            return j.bad("observer", self.k, "got a frame of", method)
        seq, again = p["seq"], p.get("redelivered", False)
        j.saw(seq, p["id"], f"observer {self.k}", p["userInfo"]["tag"])
        if p["id"] in target["got"] and not again:
            j.bad("law 2: observer", self.k, "got", seq, "twice, and the second is not marked")
        elif seq <= target["last"] and not again:
            j.bad("law 2: observer", self.k, "got", seq, "after", target["last"])
        if target["since"] is not None and seq <= target["since"]:
            j.bad("rule C10: observer", self.k, "got", seq, "and was registered at", target["since"])
        target["last"] = max(target["last"], seq)
        target["got"][p["id"]] = seq
        self.high = max(self.high, seq)
        j.counts["frames again" if again else "frames"] += 1
        if "id" in message and self.random.random() < 0.9:
            link.send({"jsonrpc": "2.0", "id": message["id"], "result": None})


def start_brokers(cluster, o):
    addresses = []
    for i in range(1, cluster.nodes + 1):
        host = cluster.host(i)
        port = 8080 if cluster.kind == "namespaces" else o.port + 50 + i
        command = o.broker.format(
            node=f"n{i}", listen=f"{host}:{port}", host=host, port=port, engine=",".join(cluster.urls(i)), cluster="test",
            folder=f"{cluster.folder}/data{i}")
        cluster.spawn(f"b{i}", i, shlex.split(command))
        addresses.append((host, port))
    return addresses


def report(o, judge):
    j = judge
    stalls = sorted((s for s, _ in j.stalls), reverse=True)
    summary = {"seed": o.seed, "posts": len(j.answered), "findings": j.found[:50], "counts": dict(sorted(j.counts.items()))}
    if stalls:
        ordered = stalls[::-1]
        summary |= {"p50_ms": round(ordered[len(ordered) // 2] * 1e3, 1), "p99_ms": round(ordered[int(len(ordered) * .99)] * 1e3, 1),
                    "worst_s": round(stalls[0], 2), "over_1_s": sum(s > 1 for s in stalls)}
        if o.max_stall and stalls[0] > o.max_stall:
            j.bad("a post took %.1f s, and %.1f s are allowed" % (stalls[0], o.max_stall))
    print(json.dumps(summary, indent=1))
    if o.json:
        with open(o.json, "w") as file:
            json.dump(summary, file)
    print(f"seed {o.seed}: " + ("passed" if not j.found else f"FAILED, {len(j.found)} findings"))
    return 1 if j.found else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--hosts", choices=["namespaces", "loopback"], default="namespaces")
    parser.add_argument("--port", type=int, default=26000)
    parser.add_argument("--sync", default="always")
    parser.add_argument("--ops", default=None)
    parser.add_argument("--broker", default=None, help="command of one node, with {node} {listen} {host} {port} {engine} {cluster} {folder}")
    parser.add_argument("--one", default=None, help="address of one running broker")
    parser.add_argument("--posters", type=int, default=4)
    parser.add_argument("--pause", type=float, default=0.03, help="mean seconds between the posts of one poster")
    parser.add_argument("--max-stall", type=float, default=0)
    parser.add_argument("--digests", type=int, default=1, help="0: do not ask for /v1/cluster")
    parser.add_argument("--json", default=None)
    o = parser.parse_args()
    o.ops = o.ops or ",".join(op for op in OPS if o.hosts == "namespaces" or not op.startswith("cut"))
    judge = Judge()
    world = World(o, judge)
    if o.one:
        parts = urlsplit(o.one)
        world.addresses = [(parts.hostname, parts.port)] * 3
        asyncio.run(asyncio.wait_for(world.run(None), o.seconds + 180))
    else:
        with Cluster(hosts=o.hosts, port=o.port, sync=o.sync) as cluster:
            cluster.enter_outside()
            world.addresses = start_brokers(cluster, o)
            asyncio.run(asyncio.wait_for(world.run(cluster), o.seconds + 240))
            for finding in fences.needless(cluster, judge.disturbed, time.time() - time.monotonic() + judge.start):
                judge.bad(finding)
            if judge.found and os.environ.get("KEEP"):
                print("logs:", cluster.folder)
    sys.exit(report(o, judge))


if __name__ == "__main__":
    main()
