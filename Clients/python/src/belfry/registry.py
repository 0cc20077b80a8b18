"""All that the client has registered: who a frame is for, and where each goes on."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Protocol

from .errors import BelfryError, ObserverRemoved
from .handling import REFUSAL_CODE
from .notification import Gap
from .observation import Observation
from .registration import Registration
from .responding import Responding
from .wire import JSONObject


class Link(Protocol):
    """The connection, as the registry needs it."""

    @property
    def is_welcomed(self) -> bool:
        """Whether the broker knows who this is."""

    def send(self, message: JSONObject) -> None:
        """Sends a message; what has no connection any more is not sent."""



class Registry:
    """The registrations of a client."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._all: dict[Registration, None] = {}
        self._by_id: dict[str, Registration] = {}
        self._by_selector: dict[str, Observation[Any]] = {}
        self._by_address: dict[tuple[str, str], dict[Responding, None]] = {}
        # How many responders implement a selector.
        self._implemented: Counter[str] = Counter()
        self._selector_count = 0
        # The highest number of this connection, and of the last one on which something came.
        self._highest_seq = 0
        self._seen_seq = 0

    def __iter__(self) -> Iterator[Registration]:
        return iter(list(self._all))

    # What comes and goes.

    def next_selector(self) -> str:
        """A selector that no other observer has."""
        while True:
            self._selector_count += 1
            selector = f"n{self._selector_count}"
            if not self._is_used(selector):
                return selector

    def avoid_selectors(self) -> None:
        """Chooses selectors from now on that no earlier run of the program has."""
        self._selector_count = random.getrandbits(32)

    def add(self, registration: Registration) -> None:
        """Takes in a new one; raises ValueError where frames could not be told apart."""
        if isinstance(registration, Observation):
            if self._is_used(registration.selector):
                raise ValueError(f"the selector {registration.selector} is in use")
            self._by_selector[registration.selector] = registration
        if isinstance(registration, Responding):
            for selector in registration.handlers:
                if selector in self._by_selector:
                    raise ValueError(f"the selector {selector} is in use")
            for selector in registration.handlers:
                holders = self._by_address.setdefault((registration.object, selector), {})
                holders[registration] = None
                self._implemented[selector] += 1
        registration.answer = lambda key, message: self._answer(registration, key, message)
        self._all[registration] = None
        if registration.id is not None:
            self._by_id[registration.id] = registration

    def remove(self, registration: Registration, error: BelfryError | None) -> None:
        """Forgets one; without an error because its owner said so."""
        self._all.pop(registration, None)
        if registration.id is not None:
            self._by_id.pop(registration.id, None)
        if isinstance(registration, Observation):
            self._by_selector.pop(registration.selector, None)
        if isinstance(registration, Responding):
            for selector in registration.handlers:
                holders = self._by_address.get((registration.object, selector), {})
                if registration in holders:
                    del holders[registration]
                    self._implemented[selector] -= 1
                if not holders:
                    self._by_address.pop((registration.object, selector), None)
        registration.end(error)

    def _is_used(self, selector: str) -> bool:
        return selector in self._by_selector or self._implemented[selector] > 0

    def claim(self, registration: Registration) -> Registration | None:
        """The one of an earlier run that is the same as a new one; it is the program's now."""
        for earlier in self._all:
            if not earlier.is_claimed and earlier.is_same(registration):
                earlier.claim(registration)
                return earlier
        return None

    def in_the_way(self, registration: Registration) -> list[Registration]:
        """Those of an earlier run that have the selector of a new one, and are other ones."""
        if not isinstance(registration, Observation):
            return []
        found = self._by_selector.get(registration.selector)
        return [] if found is None or found.is_claimed else [found]

    # Registering, and going on.

    def confirmed(self, registration: Registration, answer: JSONObject) -> None:
        """The broker has registered it."""
        if registration.id is not None:
            self._by_id.pop(registration.id, None)
        registration.id, registration.token = answer["id"], answer["token"]
        registration.is_registered = True
        registration.join(answer.get("since", 0))
        if not registration.is_removed:
            self._by_id[answer["id"]] = registration
        _settle(registration)

    def leave(self) -> None:
        """The connection is over."""
        for registration in self._all:
            registration.position = self.reached(registration)
            registration.is_registered = False
            if self._link.is_welcomed:
                # What the broker did not ask again on this connection, it does not want to know.
                owed = registration.owed
                for key in [key for key in owed if owed[key].answer is not None]:
                    del owed[key]
            for each in registration.owed.values():
                each.is_asked = False
        self._seen_seq = self._highest_seq or self._seen_seq
        self._highest_seq = 0

    def reached(self, registration: Registration) -> int | None:
        """Up to which number everything has come for one.

        Everything below the highest number that came has come for all observers, because the
        numbers of one client never decrease. Of that number itself only its own frames are known.
        What came live before a registration says nothing of the past that it was to get.
        """
        position, is_behind_past = registration.position, self._highest_seq > registration.joined
        if registration.is_registered and is_behind_past and position is not None:
            return max(position, self._highest_seq - 1)
        return position

    def records(self) -> list[JSONObject]:
        """What is stored of the observers for a later run of the program."""
        reached = [(each, self.reached(each)) for each in self._all if each.id is not None]
        records = [each.record(position) for each, position in reached if position is not None]
        return [record for record in records if record is not None]

    def position(self) -> int | None:
        """From where a session goes on: the number up to which all have everything.

        If only frames of the last number may be missing, it is that one: the broker gives those
        again to all observers but the first, whose frame has come.
        """
        positions = [
            reached for registration in self._all
            if registration.id is not None and (reached := registration.reached) is not None]
        if not positions:
            return None
        least = min(positions)
        return self._seen_seq if least == self._seen_seq - 1 else least

    def begin_epoch(self) -> None:
        """The broker counts from its own beginning."""
        self._seen_seq = 0

    def go_on(self, ids: Iterable[str], is_other_epoch: bool) -> list[str]:
        """The session goes on with the observers of these ids.

        Answers those that nobody here has: they were removed meanwhile, or given up.
        """
        kept = dict.fromkeys(ids)
        for registration in list(self._all):
            if registration.id is None:
                continue
            if registration.id in kept:
                del kept[registration.id]
                registration.is_registered = True
                _settle(registration)
                if is_other_epoch:
                    # The broker tells the gap.
                    registration.begin_numbers_anew()
            else:
                self._lose(registration, "removed")
        return list(kept)

    def begin_anew(self, registration: Registration) -> None:
        """It is registered at a broker that has begun anew: what was missed nobody knows."""
        registration.begin_numbers_anew()
        if registration.has_gaps:
            registration.tell_gap(Gap("unknown", None))

    # Frames.

    def take(self, method: str, params: JSONObject, id: Any) -> None:
        """Gives a frame to whom it is for; one that is for nobody is passed over."""
        if (seq := params.get("seq")) is None:
            return
        if not params.get("redelivered", False):
            self._highest_seq = max(self._highest_seq, seq)
        if id is not None:
            self._request(method, params, id)
        elif "target" in params:
            for responder in self._by_address.get((params["target"], method), {}):
                return responder.act(method, params)
        elif (observation := self._by_selector.get(method)) is not None:
            observation.deliver(params)
        else:
            for responder in list(self._by_address.get((str(params.get("object")), method), {})):
                responder.post(method, params)

    def pass_over(self, method: str, params: Any, id: Any) -> None:
        """Steps over a frame that cannot be taken, and would come again with each connection.

        It is told as a gap to whom it was for, and refused where it wants an answer.
        """
        seq = params.get("seq") if isinstance(params, dict) else None
        seq = seq if isinstance(seq, int) and not isinstance(seq, bool) else None
        found = self._by_selector.get(method)
        if found is not None and found.is_registered:
            if seq is not None:
                found.position = max(found.position or 0, seq)
            found.tell_gap(Gap("unknown", None if seq is None else 1, seq, seq))
        if id is not None:
            error = {"code": REFUSAL_CODE, "message": "the frame could not be taken"}
            self._link.send({"id": id, "error": error})

    def tell_gaps(self) -> None:
        """Something came that nobody can read: each observer may have lost something."""
        for registration in list(self._all):
            if registration.is_registered:
                registration.tell_gap(Gap("unknown", None))

    def give_up_past(self) -> None:
        """What was missed is not asked for: it cannot be taken."""
        for registration in list(self._all):
            if registration.id is not None:
                registration.begin_at_present()
                if registration.has_gaps:
                    registration.tell_gap(Gap("unknown", None))

    def _request(self, method: str, params: JSONObject, id: Any) -> None:
        """It comes again until it is answered, also while somebody works on it."""
        registration = self._by_id.get(params.get("observer", ""))
        if registration is None:
            return
        key = owed_key(params, id)
        owed = registration.owed.get(key)
        if owed is None:
            registration.owe(key, id, params["seq"])
            registration.request(method, params, key)
            return
        owed.id, owed.is_asked = id, True
        if owed.answer is not None:
            self._answer(registration, key, owed.answer)

    def _answer(self, registration: Registration, key: Hashable, message: JSONObject) -> None:
        """Answers once. Behind a lost connection the answer is kept until the broker asks again."""
        owed = registration.owed.get(key)
        if owed is None:
            return
        owed.answer = message
        if owed.is_asked and registration.is_registered and self._link.is_welcomed:
            del registration.owed[key]
            self._link.send({"id": owed.id, **message})

    def settled(self, params: JSONObject) -> None:
        """An ask is over, and not by an answer of this client."""
        registration = self._by_id.get(params.get("observer", ""))
        if isinstance(registration, Responding):
            registration.settle(params["id"])

    def gap(self, params: JSONObject) -> None:
        """An observer has lost something."""
        registration = self._by_id.get(params.get("observer", ""))
        if registration is not None:
            registration.tell_gap(Gap.of(params))

    def removed(self, params: JSONObject) -> None:
        """Somebody else has removed an observer."""
        registration = self._by_id.get(params.get("observer", ""))
        if registration is not None:
            self._lose(registration, params.get("reason", "removed"))

    def refused(self, registration: Registration, error: BelfryError) -> None:
        """The broker does not register it."""
        was_confirmed = registration.confirmed.done()
        self.remove(registration, error)
        if was_confirmed:
            registration.tell_removed("refused")

    def _lose(self, registration: Registration, reason: str) -> None:
        self.remove(registration, ObserverRemoved(f"the observer was removed: {reason}"))
        registration.tell_removed(reason)


def _settle(registration: Registration) -> None:
    if not registration.confirmed.done():
        registration.confirmed.set_result(None)


def owed_key(params: JSONObject, id: Any) -> Hashable:
    """What is owed is told apart by.

    It is the notification, since an ask comes again with another number; of an action, of which one
    post may make several, it is the id of the request.
    """
    is_action = "target" in params and "answerBy" not in params
    return ("action", str(id)) if is_action else str(params.get("id"))
