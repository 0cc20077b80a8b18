"""belfry.js: archives, pages of the past, and what is removed of it."""

import library
import support
from support import check

NAMES = "LibraryArchives"


def test_archives(shown):
    found = shown.evaluate(
        """async (prefix) => {
          const made = await center.putArchive({ name: `${prefix}.a`, count: 3, age: 60, keepLast: 1 });
          const wide = await center.putArchive({ namePrefix: `${prefix}.b/`, each: "object" });
          const { kept } = await center.post(`${prefix}.b/c d`, { object: "o" });
          const row = await center.archive({ namePrefix: `${prefix}.b/` });
          const all = (await center.archives()).map(({ name, namePrefix }) => name ?? namePrefix);
          await center.removeArchive({ namePrefix: `${prefix}.b/` });
          const gone = await center.archive({ namePrefix: `${prefix}.b/` });
          return [
            [made.name, made.count, made.age, made.keepLast, made.kept ?? null],
            [wide.namePrefix, wide.each], kept, row.kept, all, gone,
          ];
        }""", NAMES)
    check(found == [
        [f"{NAMES}.a", 3, 60, 1, None], [f"{NAMES}.b/", "object"], True, 1,
        [f"{NAMES}.a", f"{NAMES}.b/"], None], "archives are made, read, listed and removed", found)


def test_past(shown):
    found = shown.evaluate(
        """async (name) => {
          for (let k = 0; k < 5; k++) {
            await center.post(name, { object: `o${k % 2}`, userInfo: { k } });
          }
          const newest = await center.past({ name, order: "newest", limit: 2 });
          const numbers = async (choice) => {
            const found = [];
            for await (const { userInfo } of center.history({ name, ...choice })) found.push(userInfo.k);
            return found;
          };
          return [
            newest.notifications.map(({ userInfo }) => userInfo.k),
            newest.next === newest.notifications[1].seq, newest.gaps,
            await numbers({ limit: 1 }), await numbers({ limit: 1, order: "newest" }),
            await numbers({ last: 2 }), await numbers({ lastEach: 1 }),
            await numbers({ where: { k: { above: 2 } } }), await numbers({ object: "o1" }),
          ];
        }""", f"{NAMES}.a")
    check(found == [
        [4, 3], True, [], [2, 3, 4], [4, 3, 2], [3, 4], [3, 4], [3, 4], [3]],
        "pages and the history have what is kept", found)


def test_removal(shown):
    found = shown.evaluate(
        """async (name) => {
          const { notifications: [first], seq } = await center.past({ name });
          const one = await center.removeNotifications({ name, id: first.id });
          const rest = await center.removeNotifications({ name, object: "o0", after: first.seq });
          const { notifications, gaps } = await center.past({ name, after: first.seq - 1 });
          const got = [];
          await center.addObserver({ name, since: seq }, ({ userInfo }) => got.push(userInfo.k));
          await center.post(name, { userInfo: { k: 5 } });
          for (let tries = 0; got.length === 0 && tries < 500; tries++) {
            await new Promise((resolve) => setTimeout(resolve, 10));
          }
          return [one, rest, notifications.map(({ userInfo }) => userInfo.k), gaps.length, got];
        }""", f"{NAMES}.a")
    check(found == [1, 1, [3], 1, [5]], "what is removed is gone, and is a gap", found)


def test_refusals(shown):
    found = shown.evaluate(
        """async (prefix) => {
          const failed = (call) => call.then(() => null, ({ reason, slug }) => slug ?? reason);
          const end = new AbortController();
          end.abort(new Error("left"));
          return [
            await failed(center.past({ name: `${prefix}.unkept` })),
            await failed(center.putArchive({ name: `${prefix}.a`, count: 0 })),
            await failed(center.archive({})),
            await failed(center.past({ name: `${prefix}.a`, signal: end.signal })),
          ];
        }""", NAMES)
    check(found[:2] == ["not-archived", "invalid-fields"], "a refusal has its problem", found)
    check(found[2] == "misuse", "an archive without a name is misuse", found)
    check(found[3] is None, "and a signal ends a call", found)


def main():
    options = support.arguments(__doc__)
    grants = ("--anonymous-grants", "post,observe,wildcard,inspect,admin")
    with library.page(options, *grants) as (shown, _, _):
        shown.evaluate(
            """async () => {
              const { NotificationCenter } = await import("/belfry.js");
              window.center = new NotificationCenter();
            }""")
        test_archives(shown)
        test_past(shown)
        test_removal(shown)
        test_refusals(shown)


if __name__ == "__main__":
    main()
