"""belfry.js: responders, asks and actions."""

import library
import support
from library import NAME
from support import check, eventually, request


def test_asks(shown):
    found = shown.evaluate(
        """async () => {
          const circle = [];
          circle.push(circle);
          const posts = [];
          const desk = await center.respond("deploy", {
            start: async (userInfo, ask) => [userInfo, ask.object, ask.target, typeof ask.answerBy],
            none: () => {},
            falsehood: () => false,
            refuse: async () => { throw new Error("no paper"); },
            circle: () => circle,
            handOn: (userInfo, ask) => ask.pass(),
            didMove: (userInfo, { seq, answerBy }) => posts.push([userInfo.k, answerBy ?? null]),
          }, { next: "team", suspensionBehavior: "hold" });
          const team = await center.respond("team", { handOn: (userInfo, ask) => ask.target });
          const asked = [];
          for (const selector of ["start", "none", "falsehood", "handOn"]) {
            const { answer, by, observer, path } = await center.ask("deploy", selector, { n: 1 });
            asked.push([answer, by, observer === (path.length > 1 ? team : desk).id, path]);
          }
          const refused = [];
          for (const selector of ["refuse", "circle", "other"]) {
            const { problem } = await center.ask("deploy", selector).catch((error) => error);
            refused.push([problem.status, problem.type.split("/").pop(), problem.error?.message]);
          }
          const { answer, by, reason } = await center.ask("nobody", "start", null, { default: null });
          for (const k of [1, 2]) await center.post("didMove", { object: "deploy", userInfo: { k } });
          await center.post("didMove", { object: "other", userInfo: { k: 3 } });
          const barrier = await center.ask("deploy", "falsehood");
          const kept = [desk.object, desk.name, desk.isRemoved];
          await desk.remove();
          const gone = await center.ask("deploy", "start", {}, { default: 0 });
          await team.remove();
          return { asked, refused, fallback: [answer, by, reason], posts, kept, gone: gone.reason };
        }"""
    )
    asked = [
        [[{"n": 1}, "deploy", "deploy", "string"], "responder", True, ["deploy"]],
        [None, "responder", True, ["deploy"]],
        [False, "responder", True, ["deploy"]],
        ["team", "responder", True, ["deploy", "team"]],
    ]
    check(found["asked"] == asked, "a responder answers any JSON, or hands on", found["asked"])
    statuses = [row[:2] for row in found["refused"]]
    wanted = [[502, "responder-refused"], [502, "responder-refused"], [501, "selector-not-implemented"]]
    check(statuses == wanted, "an ask without an answer throws the problem", found["refused"])
    check(found["refused"][0][2] == "no paper", "which says why a handler refused")
    check(found["fallback"] == [None, "default", "no-responder"], "a default may be null")
    check(found["posts"] == [[1, None], [2, None]], "posts with its object come too", found["posts"])
    check(found["kept"] == ["deploy", None, False], "the token tells the address", found["kept"])
    check(found["gone"] == "no-responder", "remove() gives the address up", found["gone"])


def test_actions(shown):
    found = shown.evaluate(
        """async () => {
          const seen = [];
          const see = (userInfo, { name, object, target, selector }) => {
            seen.push([name, object, target, selector, userInfo?.k]);
            return `${target}.${selector}`;
          };
          const handOn = (userInfo, ask) => ask.pass();
          const fail = async () => { throw new Error("no bulb"); };
          const lamp = await center.respond("lamp", { toggle: see, dim: see, handOn, fail },
            { next: "hall" });
          const fan = await center.respond("fan", { toggle: see });
          const hall = await center.respond("hall", { handOn: see });
          const wire = (target, selector, acknowledge = false) => center.addObserver(
            { name: "touchUp", object: "s1", target, selector, acknowledge });
          const press = async () => {
            const options = { object: "s1", userInfo: { k: 1 }, wait: 5, report: "observers" };
            const { observers } = await center.post("touchUp", options);
            return observers.map(({ outcome, observer, result, error, reason, path }) =>
              [outcome, observer ?? null, result ?? error?.message ?? reason ?? null, path ?? null]);
          };
          const plain = [];
          const watching = await center.addObserver(
            { name: "touchUp", selector: "toggle" }, ({ name }) => plain.push(name));
          // What one post makes at one client: two actions of one address, and one of another.
          const silent = [await wire("lamp", "toggle"), await wire("lamp", "dim"),
            await wire("fan", "toggle"), await wire("attic", "toggle")];
          const first = await press();
          await center.ask("lamp", "toggle"); // Frames before its answer have come.
          for (const observer of silent) await observer.remove();
          const unanswered = seen.splice(0);
          const answered = [];
          for (const pair of [["lamp", "toggle"], ["fan", "toggle"], ["lamp", "dim"],
            ["lamp", "handOn"], ["lamp", "fail"]]) answered.push(await wire(...pair, true));
          const second = await press();
          const own = [silent[0].target, silent[0].selector, silent[0].isRemoved, watching.target];
          for (const each of [watching, ...answered, lamp, fan, hall]) await each.remove();
          return { first, unanswered, second, plain, own,
            ids: { lamp: lamp.id, fan: fan.id, hall: hall.id } };
        }"""
    )
    ids = found["ids"]
    wanted = [["delivered", ids["lamp"], None, None], ["delivered", ids["lamp"], None, None],
              ["delivered", ids["fan"], None, None], ["unhandled", None, "no-responder", ["attic"]]]
    rows = [row for row in found["first"] if row != ["delivered", None, None, None]]
    check(rows == wanted, "the rows tell where each action went", found["first"])
    wanted = [["touchUp", "s1", "lamp", "toggle", 1], ["touchUp", "s1", "lamp", "dim", 1],
              ["touchUp", "s1", "fan", "toggle", 1], ["toggle", "lamp", "lamp", "toggle", None]]
    check(found["unanswered"] == wanted, "each comes to its handler once", found["unanswered"])
    check(found["plain"] == ["touchUp"] * 2, "and a namesake observes posts only", found["plain"])
    wanted = [["acknowledged", ids["lamp"], "lamp.toggle", None],
              ["acknowledged", ids["fan"], "fan.toggle", None],
              ["acknowledged", ids["lamp"], "lamp.dim", None],
              ["acknowledged", ids["hall"], "hall.handOn", ["lamp", "hall"]],
              ["refused", ids["lamp"], "no bulb", None]]
    rows = [row for row in found["second"] if row != ["delivered", None, None, None]]
    check(rows == wanted, "those that are answered get each its own answer", found["second"])
    check(found["own"] == ["lamp", "toggle", True, None], "the token tells its target", found["own"])


def test_withdrawal(shown):
    found = shown.evaluate(
        """async () => {
          let begin;
          let end;
          const begun = new Promise((resolve) => { begin = resolve; });
          const ended = new Promise((resolve) => { end = resolve; });
          const desk = await center.respond("slow", {
            work: (userInfo, ask) => new Promise((resolve, reject) => {
              ask.signal.onabort = () => { end(ask.id); reject(ask.signal.reason); };
              begin(ask.id);
            }),
            echo: (userInfo) => userInfo,
          });
          const abort = new AbortController();
          const options = { wait: 60, default: "a b", signal: abort.signal };
          const asking = center.ask("slow", "work", null, options).catch(({ name }) => name);
          const id = await begun;
          abort.abort();
          const name = await asking;
          const isSame = await ended === id;
          const { answer } = await center.ask("slow", "echo", { "ä b": [1] }, {
            ...options, signal: new AbortController().signal, idempotencyKey: "key",
          });
          const { problem } = await center.ask("none", "work", null, {
            once: true, signal: new AbortController().signal,
          }).catch((error) => error);
          const later = await center.ask("slow", "work", null, { ttl: 60 });
          await center.withdraw(later);
          const [, status] = await Promise.all([
            desk.remove(), center.withdraw(later).catch((error) => error.problem.status)]);
          return { name, isSame, answer, status: problem.status, later: later.outcome, twice: status };
        }"""
    )
    wanted = {
        "name": "AbortError", "isSame": True, "answer": {"ä b": [1]}, "status": 503,
        "later": "asked", "twice": 409,
    }
    check(found == wanted, "an ask is withdrawn by its signal, and ask.signal tells", found)


def test_lost_ask(shown, url, proxy):
    shown.evaluate(
        """async (url) => {
          const { NotificationCenter } = await import("/belfry.js");
          const far = new NotificationCenter(url);
          const lost = { begun: [], ended: [], results: {} };
          const work = (userInfo, ask) => new Promise((resolve) => {
            lost.begun.push(userInfo.k);
            ask.signal.onabort = () => lost.ended.push(userInfo.k);
            if (lost.begun.length > 3) resolve(userInfo.k);
          });
          await far.respond("far", { work });
          const note = (k) => ({ answer, code }) => { lost.results[k] = answer ?? String(code); };
          center.ask("far", "work", { k: 1 }).then(note(1), note(1));
          const options = { wait: 15, once: true, idempotencyKey: "lost" };
          center.ask("far", "work", { k: 2 }, options).then(note(2), note(2));
          center.ask("far", "work", { k: 3 }, { wait: 15 }).then(note(3), note(3));
          Object.assign(window, { far, lost });
        }""",
        url,
    )
    eventually(lambda: shown.evaluate("lost.begun.length") == 3, "three asks are at their responder")
    proxy.cut()
    eventually(
        lambda: shown.evaluate("lost.results") == {"1": "null"},
        "an ask whose connection is lost fails with the code null",
    )
    eventually(
        lambda: sorted(shown.evaluate("lost.ended")) == [1, 2, 3], "and is withdrawn, as the others")
    proxy.mend()
    eventually(
        lambda: shown.evaluate("lost.results") == {"1": "null", "2": 2, "3": 3},
        "those with an idempotency key or a wait are asked again",
    )
    shown.evaluate("far.close()")


def test_kept_responder(shown, url, proxy):
    shown.evaluate(
        """async () => {
          const { NotificationCenter } = await import("/belfry.js");
          const kept = { handled: [], answer: null };
          const staying = new NotificationCenter(undefined, { resume: true });
          const work = ({ k }) => new Promise((resolve) => {
            kept.handled.push(k);
            kept.answer = () => resolve(k);
          });
          const desk = await staying.respond("kept", { work }, { suspensionBehavior: "hold" });
          Object.assign(window, { staying, keeping: kept, desk });
        }"""
    )
    before = shown.evaluate("desk.id")
    status, asked = request(
        f"{url}/v1/responders/kept/work?ttl=60", method="POST", body={"k": 1},
        Content_Type="application/json", Prefer="respond-async",
    )
    assert status == 202, (status, asked)

    def states():
        return [row["state"] for row in request(f"{url}/v1/asks?object=kept")[1]["asks"]]

    eventually(lambda: shown.evaluate("keeping.handled") == [1], "an ask is at work")
    proxy.cut()
    eventually(lambda: states() == ["held"], "a responder that is cut off holds it")
    proxy.mend()
    eventually(lambda: states() == ["delivered"], "it comes again when the responder is back")
    shown.evaluate("keeping.answer()")
    status, fate = request(f"{url}/v1/notifications/{asked['id']}", Prefer="wait=10")
    check((status, fate.get("answer")) == (200, 1), "the handler that was at work answers it", fate)
    check(shown.evaluate("keeping.handled") == [1], "and no second one was started")
    check(shown.evaluate("desk.id") == before, "the responder is the same")
    shown.evaluate("staying.close()")


def main():
    options = support.arguments(__doc__)
    with library.page(options) as (shown, url, proxy):
        shown.evaluate(library.SETUP, NAME)
        test_asks(shown)
        test_actions(shown)
        test_withdrawal(shown)
        test_lost_ask(shown, url, proxy)
        test_kept_responder(shown, url, proxy)


if __name__ == "__main__":
    main()
