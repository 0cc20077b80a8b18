"""Archives, the past, and connections of their own: with the program that BELFRY_BINARY names."""

from __future__ import annotations

import unittest
from datetime import UTC, datetime, timedelta
from typing import Any

from support import AsyncTestCase, Broker, eventually, request

from belfry import Notification, NotificationCenter, Refused
from belfry.wire import beginning_of, time_of


class BeginningTests(unittest.TestCase):
    def test_a_place_in_the_past_is_one_member(self) -> None:
        self.assertEqual(beginning_of(None, None, None), {})
        self.assertEqual(beginning_of(0, None, None), {"since": 0})
        self.assertEqual(beginning_of("oldest", None, None), {"since": "oldest"})
        self.assertEqual(beginning_of(None, 3, None), {"last": 3})
        self.assertEqual(beginning_of(None, None, 1), {"lastEach": 1})

    def test_what_is_too_much_goes_to_the_broker(self) -> None:
        self.assertEqual(beginning_of(7, 3, None), {"since": 7, "last": 3})

    def test_a_time_has_a_zone(self) -> None:
        there = datetime(2026, 11, 22, 7, 0, 0, 250_000, tzinfo=UTC) + timedelta(hours=1)
        self.assertEqual(time_of(there), "2026-11-22T08:00:00.250Z")
        self.assertEqual(time_of("oldest"), "oldest")
        with self.assertRaises(ValueError):
            time_of(datetime(2026, 11, 22))


class ArchiveTests(AsyncTestCase):
    """What a program does with archives, once with a broker."""

    broker: Broker

    @classmethod
    def setUpClass(cls) -> None:
        cls.broker = cls.enterClassContext(
            Broker("--anonymous-grants", "post,observe,wildcard,inspect,admin"))

    def center(self, **options: Any) -> NotificationCenter:
        return NotificationCenter(self.broker.url, center=self.id().rsplit(".")[-1], **options)

    def client_count(self) -> int:
        name = self.id().rsplit(".")[-1]
        return len(request(f"{self.broker.url}/v1/centers/{name}/clients")[1]["clients"])

    async def test_archives_are_made_read_changed_and_removed(self) -> None:
        async with self.center() as center:
            made = await center.put_archive("a", count=3, age=60, keep_last=1)
            self.assertEqual((made.name, made.count, made.age, made.kept), ("a", 3, 60, None))
            self.assertFalse(made.stored)
            prefix = await center.put_archive(name_prefix="a b/", each="object", stored=False)
            self.assertEqual((prefix.name_prefix, prefix.each), ("a b/", "object"))
            self.assertTrue((await center.post("a")).kept)
            self.assertFalse((await center.post("b")).kept)
            found = await center.archive("a")
            assert found is not None
            self.assertEqual(found.kept, 1)
            self.assertEqual(
                {row.name or row.name_prefix for row in await center.archives()}, {"a", "a b/"})
            await center.remove_archive(name_prefix="a b/")
            self.assertIsNone(await center.archive(name_prefix="a b/"))
            with self.assertRaises(Refused) as refused:
                await center.past("b")
            self.assertEqual(refused.exception.slug, "not-archived")
            with self.assertRaises(ValueError):
                await center.put_archive("a", name_prefix="a")

    async def test_pages_have_what_is_kept_and_what_is_removed_is_gone(self) -> None:
        async with self.center() as center:
            await center.put_archive("a")
            for number in range(5):
                await center.post("a", object=f"o{number % 2}", user_info={"n": number})
            page = await center.past("a", order="newest", limit=2)
            self.assertEqual([each.user_info for each in page.notifications], [{"n": 4}, {"n": 3}])
            self.assertEqual(page.next, page.notifications[-1].seq)
            rest = await center.past("a", order="newest", before=page.next)
            self.assertEqual(len(rest.notifications), 3)
            self.assertIsNone(rest.next)
            found = [each async for each in center.history("a", where={"n": {"above": 2}}, limit=1)]
            self.assertEqual([each.user_info for each in found], [{"n": 3}, {"n": 4}])
            each = await center.past("a", last_each=1)
            self.assertEqual([row.object for row in each.notifications], ["o1", "o0"])
            early = datetime(2001, 1, 1, tzinfo=UTC)
            self.assertEqual((await center.past("a", until=early)).notifications, [])
            self.assertEqual(len((await center.past("a", from_=early)).notifications), 5)
            self.assertEqual(await center.remove_notifications("a", before=found[0].seq), 3)
            self.assertEqual(len((await center.past("a")).notifications), 2)

    async def test_an_observer_of_the_past_has_a_connection_of_its_own(self) -> None:
        async with self.center() as center:
            await center.put_archive("a")
            for number in range(1_200):
                await center.post("a", user_info={"n": number})
            gaps: list[Any] = []
            observer = await center.add_observer("a", since="oldest", on_gap=gaps.append)
            last: list[Notification] = []
            await center.add_observer("a", last.append, last=2)
            await center.add_observer("a", lambda _: None, since=0)
            self.assertEqual(self.client_count(), 3)
            await center.post("a", user_info={"n": 1_200})
            found = []
            async for notification in observer:
                found.append((notification.user_info or {})["n"])
                if len(found) == 1_201:
                    break
            self.assertEqual((found, gaps), (list(range(1_201)), []))
            await eventually(lambda: len(last) == 3, "the last two and a live one")
            await observer.remove()
            await eventually(lambda: self.client_count() == 2, "its connection is gone")
        await eventually(lambda: self.client_count() == 0, "all connections are gone")

    async def test_a_refused_beginning_leaves_no_connection(self) -> None:
        async with self.center() as center:
            await center.add_observer("a", lambda _: None)
            with self.assertRaises(Refused):
                await center.add_observer("a", lambda _: None, last=1_001)
            await eventually(lambda: self.client_count() == 1, "its connection is gone")


if __name__ == "__main__":
    unittest.main()
