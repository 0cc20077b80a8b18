"""The table: medians over the quiet rounds, ratios within a round, and what they must be."""

import json
import random
import statistics

import cells

HEAD = (
    "cell", "server", "measure", "median", "ratio", "95 % interval", "bar", "holds",
    "lost/doubled/misordered/corrupt/other", "rounds")
FAULTS = ("lost", "doubled", "misordered", "corrupt")
OTHER_FAULTS = ("wrong_channel", "proto_err", "bad_status", "dead")


def interval(values, draws=4_000):
    """The bootstrap 95 % interval of the median; the same each time for the same values."""
    source = random.Random(7)
    medians = sorted(
        statistics.median(source.choices(values, k=len(values))) for _ in range(draws))
    return medians[int(draws * 0.025)], medians[int(draws * 0.975) - 1]


def is_quiet(record, limit):
    return "error" not in record and record["foreign_cpu"] < limit


def read(path):
    """The records of a file, as {cell: {round: {run: record}}}."""
    rounds = {}
    with open(path) as lines:
        for line in lines:
            record = json.loads(line)
            of_cell = rounds.setdefault(record["cell"], {})
            of_cell.setdefault(record["round"], {})[record["run"]] = record
    return rounds


def kept(rounds, limit):
    """Those rounds of a cell in which nothing else ran."""
    return [
        runs for runs in rounds.values()
        if all(is_quiet(record, limit) for record in runs.values())]


def faults(rounds, run):
    """What went wrong in all rounds, the noisy ones too."""
    records = [runs[run] for runs in rounds.values() if run in runs]
    failed = sum("error" in record for record in records)
    records = [record for record in records if "error" not in record]
    counts = [sum(record[name] for record in records) for name in FAULTS]
    other = sum(record[name] for record in records for name in OTHER_FAULTS)
    return [*counts, other + failed]


def short(value):
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3g}"


def row_of(cell, row, rounds, limit):
    """The texts of a row of the table, and whether its bar holds, or None if it has none."""
    title, unit, read_measure = cells.MEASURES[row.measure]
    quiet = kept(rounds, limit)
    values = [read_measure(runs[row.run]) for runs in quiet if row.run in runs]
    pairs = [
        (read_measure(runs[row.run]), min(read_measure(runs[other]) for other in row.against))
        for runs in quiet
        if row.against and row.run in runs and all(other in runs for other in row.against)]
    ratios = [mine / least for mine, least in pairs if least > 0]
    wrong = faults(rounds, row.run)
    holds = None
    judged = ratios if row.against else values
    if row.bar is not None and judged:
        middle = statistics.median(judged)
        # What was not delivered costs nothing.
        holds = not any(wrong) and (middle >= row.bar if row.at_least else middle <= row.bar)
    low_high = interval(ratios) if ratios else None
    bar = "" if row.bar is None else f"{'≥' if row.at_least else '≤'} {row.bar:,g}"
    ran = sum(row.run in runs for runs in rounds.values())
    texts = (
        cell.name, row.run, title,
        f"{short(statistics.median(values))} {unit}" if values else "no quiet round",
        f"{statistics.median(ratios):.3f}" if ratios else "",
        f"{low_high[0]:.3f} to {low_high[1]:.3f}" if low_high else "",
        bar, {True: "yes", False: "NO", None: "-" if bar else ""}[holds],
        "/".join(map(str, wrong)), f"{len(values)} of {ran}")
    return texts, holds


def show(path, limit):
    """Prints the table of a file of records; returns whether all bars hold."""
    measured = read(path)
    lines, verdicts, wrong = [], [], 0
    for cell in cells.CELLS:
        rounds = measured.get(cell.name)
        if not rounds:
            continue
        ran = {run for runs in rounds.values() for run in runs}
        for row in cell.rows:
            if row.run in ran:
                texts, holds = row_of(cell, row, rounds, limit)
                lines.append(texts)
                if row.bar is not None:
                    verdicts.append(holds)
        wrong += sum(
            sum(faults(rounds, run)) for run, peer in cell.runs.items()
            if run in ran and peer.peer.startswith("belfry"))
    print_lines(lines)
    held = verdicts.count(True)
    print(
        f"\n{held} of {len(verdicts)} bars hold, {verdicts.count(False)} do not, "
        f"{verdicts.count(None)} cannot be told. Faults of belfry in all cells: {wrong}.")
    return held == len(verdicts) and not wrong


def print_lines(lines):
    """A Markdown table that is readable as it is, too."""
    widths = [max(len(texts[i]) for texts in (HEAD, *lines)) for i in range(len(HEAD))]

    def put(texts):
        print("| " + " | ".join(text.ljust(width) for text, width in zip(texts, widths)) + " |")

    put(HEAD)
    put(["-" * width for width in widths])
    for texts in lines:
        put(texts)
