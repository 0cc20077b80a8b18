"""The cells of the matrix: a load, the servers that get it, and the bars that must hold."""

import dataclasses

FLOORS = ("floor-now", "floor-batch")
OTHERS = ("nchan", "redis")

# What is read from a run: its name in the table, its unit, and where wsload says it.
MEASURES = {
    "cpu": ("CPU", "µs", lambda run: run["server_us_per_unit"]),
    "memory": ("memory", "B", lambda run: run["rss_bytes_per_conn"]),
    "idle": ("idle CPU", "%", lambda run: run["idle_cpu_pct"]),
    "p99": ("p99", "µs", lambda run: run["e2e_us"]["p99"]),
    "ping": ("ping p99", "µs", lambda run: run["ping_us"]["p99"]),
    "accepted": ("posts", "/s", lambda run: run["acked_per_s"]),
    "delivered": ("deliveries", "/s", lambda run: run["delivered_per_s"]),
}


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of the table: a measure of a run, and its ratio to the least of others."""

    run: str
    measure: str = "cpu"
    against: tuple = ()
    # The bar is on the ratio if there is one, else on the measure itself.
    bar: float | None = None
    at_least: bool = False


@dataclasses.dataclass(frozen=True)
class Run:
    """A server and a load; a cell names its runs by the peer if it has only one of it."""

    peer: str
    load: str


@dataclasses.dataclass(frozen=True)
class Cell:
    name: str
    runs: dict
    rows: tuple
    # A cell that takes long and has no ratio is run in fewer rounds.
    most_rounds: int = 1_000

    def needed(self):
        """The runs that a bar needs."""
        names = set()
        for row in self.rows:
            if row.bar is not None:
                names.update((row.run, *row.against))
        return names


LOADS = {
    "fan1k-w1-100": "--subs 1000 --pubs 1 --depth 1 --window 1",
    "fan1k-w1-1k": "--subs 1000 --pubs 1 --depth 1 --window 1 --size 1024",
    # Bursts of 16, and never more than 32 posts that are not delivered to all.
    "fan1k-w32-100": "--subs 1000 --pubs 4 --depth 8 --window 32",
    "fan1k-w32-1k": "--subs 1000 --pubs 4 --depth 8 --window 32 --size 1024",
    "fan1k-w64-100": "--subs 1000 --pubs 4 --depth 16 --window 64",
    "fan100-w8-16k": "--subs 100 --pubs 2 --depth 4 --window 8 --size 16384",
    "many-1000x5": "--subs 5000 --chans 1000 --pubs 8 --depth 8 --window 64",
    "pub0-8x16": "--subs 0 --pubs 8 --depth 16",
    "pub1-8x16": "--subs 1 --pubs 8 --depth 16 --window 128",
    "sweep-10k@2": "--subs 10000 --pubs 1 --depth 8 --rate 2 --src 4",
    "idle-15k": "--idle --subs 15000 --src 4 --hold 1",
}
# A turn of the loop posts what has come until then, once: so many must be under way that half of the
# time can be theirs beside 1,000 deliveries.
FLOOD = (
    "--state --subs 1000 --pubs 16 --depth 256 --pub-path"
    " /v1/channels/ch%c?object=state&style=asap&coalesce=name,sender&keep=latest")

# Server CPU of a delivery (a post, a connection), to the cheaper of the two floors.
BARS = {
    "fan1k-w1-100": 1.12,
    "fan1k-w1-1k": 1.12,
    "fan1k-w32-100": 1.15,
    "fan1k-w32-1k": 1.25,
    "fan1k-w64-100": 1.4,
    "fan100-w8-16k": 1.2,
    "many-1000x5": 1.15,
    "pub0-8x16": 3.0,
    "pub1-8x16": 1.6,
    "sweep-10k@2": None,
    "idle-15k": 1.3,
}
DELIVERING = [name for name in LOADS if name not in ("pub0-8x16", "idle-15k")]


def main_cell(name):
    """Belfry beside the floors and the other brokers."""
    load = LOADS[name]
    # nchan gets stuck where many connections post what one subscriber gets.
    others = tuple(peer for peer in OTHERS if (name, peer) != ("pub1-8x16", "nchan"))
    rows = [Row("belfry", against=FLOORS, bar=BARS[name])]
    rows += [Row(peer, against=FLOORS) for peer in others]
    rows += [Row(peer) for peer in FLOORS]
    if name == "idle-15k":
        rows.insert(1, Row("belfry", "memory", bar=1_024))
    if name == "sweep-10k@2":
        rows.insert(1, Row("belfry", "p99", against=("floor-batch",), bar=1.05))
    runs = {peer: Run(peer, load) for peer in ("belfry", *FLOORS, *others)}
    return Cell(name, runs, tuple(rows))


def pair(prefix, name, first, second, bar):
    """Two servers under the same load: what the first costs, to the second."""
    load = LOADS[name]
    rows = (Row(first, against=(second,), bar=bar), Row(second))
    return Cell(f"{prefix}:{name}", {peer: Run(peer, load) for peer in (first, second)}, rows)


CELLS = [
    *(main_cell(name) for name in LOADS),
    Cell(
        "idle-hold", {"belfry": Run("belfry", "--idle --subs 15000 --src 4 --hold 65")},
        (Row("belfry", "idle", bar=1.5),), most_rounds=5),
    pair("z", "fan1k-w32-1k", "belfry-z", "nchan-z", 0.25),
    pair("data", "fan1k-w1-100", "belfry-data", "belfry", 1.02),
    pair("data", "fan1k-w32-100", "belfry-data", "belfry", 1.02),
    pair("tls", "fan1k-w32-100", "belfry-tls", "belfry", 2.5),
    Cell(
        "ping:fan1k-w32-100",
        {"belfry": Run("belfry", LOADS["fan1k-w32-100"] + " --ping-rate 100")},
        (Row("belfry", "ping", bar=5_000),)),
    Cell(
        "flood", {"belfry": Run("belfry", FLOOD), "pub0": Run("belfry", LOADS["pub0-8x16"])},
        (
            Row("belfry", "accepted", against=("pub0",), bar=0.5, at_least=True),
            Row("belfry", "delivered"), Row("belfry"), Row("pub0", "accepted"),
        )),
    *(
        pair("loops", name, "belfry-free-2", "belfry-free-1", 1.15 if name in DELIVERING else None)
        for name in LOADS),
]
