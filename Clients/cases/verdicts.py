"""The cases of the table `verdicts.json`: one or two for each row that a scripted line can play."""

import json
import pathlib

TABLE = pathlib.Path(__file__).parent / "verdicts.json"
PROBLEMS = "https://belfry.dev/problems/"

RECEIPT = {
    "id": "n1", "seq": 1, "matched": 0, "delivered": 0, "held": 0, "coalesced": 0, "dropped": 0,
    "acknowledged": 0, "refused": 0, "pending": 0, "dequeued": 0,
}
POST = {"do": "post", "as": "post", "name": "Changed", "options": {"timeout": 20}}
POSTED = [
    {"expect": {"method": "post"}, "answer": RECEIPT},
    {"told": "result", "of": "post", "value": {"seq": 1}},
]
OPEN = {"told": "state", "state": "open", "within": 15}
LET_IN = {
    "requested": {"method": "GET", "path": "/me"}, "within": 15,
    "reply": {
        "status": 200, "type": "application/json",
        "content": '{"principal":null,"grants":[{"verbs":["post","observe"]}]}'},
}
OVER_REQUESTS = {"also": ["events"], "options": {"transport": "events"}}

PAUSES = {"again": {}, "later": {"notBefore": 1.0}}
"""What a step `welcome` says of the opening after it."""


def rows():
    """The rows of the table, those that no case plays among them."""
    return json.loads(TABLE.read_text())


def cases():
    """The cases that the rows make."""
    return [
        {"case": f"{row['of']}-{row['row']}{ending}", "about": row["about"], **case}
        for row in rows() if row["of"] in MAKERS for ending, case in MAKERS[row["of"]](row)]


def _problem(row):
    slug, status = row["problem"], row["status"]
    return {"type": f"{PROBLEMS}{slug}", "title": slug, "status": status}


def _opening(row):
    """An opening is answered with anything but 101."""
    if "problem" in row:
        answer = {"refuse": _problem(row)}
        answer |= {"retryAfter": row["retryAfter"]} if "retryAfter" in row else {}
    else:
        answer = {"stranger": row["answer"]}
    status = _problem(row)["status"] if "problem" in row else None
    ended = [
        {"told": "error", "of": "post", "why": "refused", "problem": {"status": status}},
        {"told": "state", "state": "closed"},
        {"quiet": 1.2},
    ]
    if row["means"] == "final":
        yield from _whatever_the_token([POST, answer, *ended])
    elif row["means"] == "renew":
        yield "", {"options": {"token": "old"}, "steps": [POST, {**answer, "token": "old"}, *ended]}
        steps = [POST, {**answer, "token": "old"}, _welcome(row, token="new"), *POSTED]
        yield "-with-a-function", _with_function(steps)
    else:
        yield "", {"steps": [POST, answer, _welcome(row), *POSTED]}


def _close(row):
    """A line is closed with a code, before the welcome or behind it."""
    close = {"close": row["code"]}
    if not row["welcomed"]:
        steps = [POST, {"accept": True}, close, _welcome(row), *POSTED]
        yield "-before-the-welcome", {"steps": steps}
        return
    begun = [{"welcome": {}}, OPEN, close]
    ended = [{"told": "state", "state": "closed", "code": row["code"]}, {"quiet": 1.2}]
    match row["means"]:
        case "final":
            yield from _whatever_the_token([*begun, *ended])
        case "renew":
            token = {"options": {"token": "old"}}
            begun = [{"welcome": {}, "token": "old"}, *begun[1:]]
            yield "", token | {"steps": [*begun, *ended]}
            yield "-with-a-function", _with_function([*begun, _welcome(row, token="new"), OPEN])
        case _:
            yield "", {"steps": [*begun, _welcome(row), OPEN]}


def _request(row):
    """A post over HTTP is answered so."""
    posting = {"requested": {"method": "POST", "path": "/notifications"}}
    told = {"told": "error", "of": "post", "why": row["means"], "message": "$any"}
    steps = [LET_IN, POST, {**posting, "reply": row["answer"]}, told]
    yield "", OVER_REQUESTS | {"steps": steps}


def _stream(row):
    """The opening of an event stream is answered so; the next one is good."""
    streaming = {"requested": {"method": "GET", "path": "/events"}}
    good = {"status": 200, "type": "text/event-stream", "streams": True,
            "fields": {"Belfry-Position": "e1-4"}}
    steps = [
        LET_IN, {"do": "addObserver", "as": "first", "name": "Changed", "options": {"timeout": 20}},
        {**streaming, "reply": row["answer"]}, LET_IN, {**streaming, "reply": good},
        {"told": "result", "of": "first"},
        {"stream": 'id: e1-5\ndata: {"id":"n5","seq":5,"name":"Changed"}\n\n'},
        {"told": "notification", "observer": "first", "notification": {"seq": 5}}]
    yield "", OVER_REQUESTS | {"steps": steps}


def _welcome(row, **more):
    # The session of the line before is not asked for: these centers do not resume.
    pause = PAUSES.get(row["means"], {})
    if "notBefore" in row:
        pause = {"notBefore": row["notBefore"]}
    return {"welcome": {"client": "c2", "session": "c2.secret"}, "within": 20, **pause, **more}


def _whatever_the_token(steps):
    """No token, and no function that answers one, helps against what is final."""
    yield "", {"steps": steps}
    yield "-with-a-function", _with_function([_showing(step, "old") for step in steps])


def _with_function(steps):
    options = {"token": {"function": ["old", "new"]}}
    return {"options": options, "needs": ["tokenFunction"], "steps": steps}


def _showing(step, token):
    """The step with what its opening shows, if it is one."""
    return step | {"token": token} if {"welcome", "refuse"} & set(step) else step


MAKERS = {"opening": _opening, "close": _close, "request": _request, "stream": _stream}
