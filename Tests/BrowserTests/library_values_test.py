"""belfry.js: values and bindings."""

import library
import support
from library import NAME
from support import check, eventually, request


def value(url, path):
    status, content = request(f"{url}/v1/values/{path}")
    return content if status == 200 else None


def test_values(shown, url):
    found = shown.evaluate(
        """async () => {
          const told = { whole: [], place: [] };
          const keep = (list) => (value, { kind, initial = false, old }) =>
            list.push([kind, initial, JSON.stringify(value) ?? null, old ?? null]);
          const observers = [
            await center.addObserver({ object: "o", keyPath: "" }, keep(told.whole)),
            await center.addObserver({ object: "o", keyPath: "a.b", old: true }, keep(told.place)),
          ];
          const absent = await center.value("o");
          const first = await center.setValue("o", "a.b", { x: 1 });
          const patch = { a: { b: { y: [1, null] }, c: 3 }, ["__proto__"]: 4 };
          await center.mergeValue("o", "", patch);
          const same = await center.setValue("o", "a.b.x", 1);
          await center.removeValue("o", "a.b.x");
          await center.setValue("o", "", { a: { b: "dark" } });
          const { value, etag } = await center.value("o", "a.b");
          const conflict = await center.setValue("o", "a.b", 1, { ifMatch: first.etag })
            .catch((error) => error.problem.status);
          const created = await center.setValue("o", "a.b", 1, { ifNoneMatch: "*" })
            .catch((error) => error.problem.status);
          await center.setValue("o", "a.b", "light", { ifMatch: etag });
          await center.removeValue("o");
          for (const observer of observers) await observer.remove();
          const drop = await center
            .addObserver({ object: "o", keyPath: "", suspensionBehavior: "drop" })
            .catch(({ message }) => message);
          const ends = [];
          const sequence = await center.addObserver({ object: "o", keyPath: "a" });
          for await (const { value, change } of sequence) {
            ends.push([change.kind, value ?? null]);
            if (ends.length === 2) break;
            await center.setValue("o", "a", false);
          }
          await center.removeValue("o");
          const paths = observers.map(({ keyPath, object, name }) => [keyPath, object, name]);
          return { told, absent, value, changed: [first.changed, same.changed], conflict, created,
                   drop, ends, paths };
        }"""
    )
    check(found["absent"] is None and found["value"] == "dark", "a value is there, or is not", found)
    check(found["changed"] == [True, False], "a write that changes nothing says so")
    check((found["conflict"], found["created"]) == (412, 412), "a condition that fails is a refusal")
    whole = [
        ["removed", True, None, None],
        ["set", False, '{"a":{"b":{"x":1}}}', None],
        ["merge", False, '{"a":{"b":{"x":1,"y":[1,null]},"c":3},"__proto__":4}', None],
        ["merge", False, '{"a":{"b":{"y":[1,null]},"c":3},"__proto__":4}', None],
        ["merge", False, '{"a":{"b":"dark"}}', None],
        ["merge", False, '{"a":{"b":"light"}}', None],
        ["removed", False, None, None],
    ]
    told = found["told"]["whole"]
    check(told == whole, "each change has the whole value", told)
    place = [
        ["removed", True, None, None],
        ["set", False, '{"x":1}', None],
        ["merge", False, '{"x":1,"y":[1,null]}', {"y": None}],
        ["merge", False, '{"y":[1,null]}', {"x": 1}],
        ["set", False, '"dark"', {"y": [1, None]}],
        ["set", False, '"light"', "dark"],
        ["removed", False, None, "light"],
    ]
    told = found["told"]["place"]
    check(told == place, "and so has a place in it", told)
    check("drop" in found["drop"], "a value is not observed with holes", found["drop"])
    check(found["ends"] == [["removed", None], ["set", False]], "without a handler it is a sequence")
    check(found["paths"] == [["", "o", None], ["a.b", "o", None]], "an observer has its place")


def test_own(shown, url):
    """Changes of one's own are left out, and the value is whole all the same."""
    shown.evaluate(
        """async () => {
          window.own = [];
          await center.addObserver(
            { object: "own", keyPath: "", own: false }, (value) => own.push(value ?? null));
          await center.setValue("own", "mine", 1);
        }"""
    )
    request(f"{url}/v1/values/own/theirs", method="PUT", body=2, Content_Type="application/json")
    eventually(
        lambda: shown.evaluate("own") == [None, {"mine": 1, "theirs": 2}],
        "a change of somebody else is told with what was set here",
    )


def test_value_cut(shown, url, proxy):
    shown.evaluate(
        """async () => {
          const { NotificationCenter } = await import("/belfry.js");
          window.sharing = new NotificationCenter();
          window.kept = [];
          await sharing.setValue("kept", "", { a: 1 });
          await sharing.addObserver({ object: "kept", keyPath: "" }, (value, { initial = false }) =>
            kept.push([initial, value]));
        }"""
    )
    proxy.cut()
    proxy.mend()
    eventually(lambda: shown.evaluate("sharing.state") == "open", "a cut connection comes back")
    check(shown.evaluate("kept") == [[True, {"a": 1}]], "a value that is the same is not told again")
    proxy.cut()
    request(f"{url}/v1/values/kept/b", method="PUT", body=2, Content_Type="application/json")
    proxy.mend()
    eventually(
        lambda: shown.evaluate("kept.length") == 2, "one that has changed meanwhile is told")
    check(shown.evaluate("kept[1]") == [True, {"a": 1, "b": 2}], "as it is")
    request(f"{url}/v1/values/kept/a", method="DELETE")
    eventually(
        lambda: shown.evaluate("kept.at(-1)") == [False, {"b": 2}], "and its changes go on from there")


def test_binding(shown, url, proxy):
    shown.evaluate(
        """async () => {
          const make = (tag, type) => {
            const made = document.body.appendChild(document.createElement(tag));
            if (type) made.type = type;
            return made;
          };
          const bound = {
            range: make("input", "range"), box: make("input", "checkbox"), text: make("input"),
            choice: make("select"), shown: make("p"), faults: [], told: [],
          };
          for (const name of ["a", "b"]) bound.choice.append(new Option(name, name));
          bound.text.value = "kept";
          const onError = ({ problem }) => bound.faults.push(problem?.status ?? null);
          bound.bindings = {};
          for (const part of ["range", "box", "text", "choice", "shown"]) {
            bound.bindings[part] = await sharing.bind(bound[part], "form", part, { onError });
          }
          bound.put = (part, content) => {
            Object.assign(bound[part], content);
            bound[part].dispatchEvent(new Event("input"));
          };
          await sharing.addObserver({ object: "form", keyPath: "" }, (value) => bound.told.push(value));
          window.bound = bound;
        }"""
    )
    check(shown.evaluate("bound.text.value") == "kept", "an input without a value keeps its own")
    shown.evaluate(
        """bound.put("range", { value: 30 }); bound.put("box", { checked: true });
           bound.put("text", { value: "Ann" }); bound.put("choice", { value: "b" });"""
    )
    wanted = {"range": 30, "box": True, "text": "Ann", "choice": "b"}
    eventually(lambda: value(url, "form") == wanted, "inputs set numbers, truth and text")
    request(f"{url}/v1/values/form", method="PATCH", Content_Type="application/json",
            body={"range": 7, "box": False, "text": "Bob", "choice": "a", "shown": {"n": 1}})
    eventually(
        lambda: shown.evaluate(
            "[bound.range.value, bound.box.checked, bound.text.value, bound.choice.value,"
            " bound.shown.textContent]") == ["7", False, "Bob", "a", '{"n":1}'],
        "and show what others set",
    )
    shown.evaluate("bound.told.length = 0; for (let n = 1; n < 101; n++) bound.put('range', { value: n })")
    eventually(lambda: value(url, "form/range") == 100, "of many moves the last one wins")
    count = shown.evaluate("bound.told.length")
    check(count <= 3, "and those that were overtaken are not sent", count)
    check(shown.evaluate("bound.range.value") == "100", "nothing comes back")

    shown.evaluate("bound.put('text', { value: 'x'.repeat(262145) })")
    eventually(lambda: shown.evaluate("bound.faults") == [413], "what is refused is told")
    check(shown.evaluate("bound.text.value") == "Bob", "and the input shows the value as it is")
    proxy.cut()
    shown.evaluate("bound.put('range', { value: 55 })")
    request(f"{url}/v1/values/form/range", method="PUT", body=44, Content_Type="application/json")
    proxy.mend()
    eventually(lambda: value(url, "form/range") == 55, "what was set without a connection is set then")
    check(shown.evaluate("bound.range.value") == "55", "and stands, as the last write")
    shown.evaluate("bound.faults.length = 0; bound.put('text', { value: 'x'.repeat(2 << 20) })")
    eventually(
        lambda: shown.evaluate("[bound.faults.length, bound.text.value]") == [1, "Bob"],
        "a message that is too long ends the connection, and is given up",
    )
    eventually(lambda: shown.evaluate("sharing.state") == "waiting", "the next attempt is put off")
    shown.evaluate("dispatchEvent(new Event('online'))")
    shown.evaluate("bound.bindings.range.remove()")
    request(f"{url}/v1/values/form", method="PATCH", Content_Type="application/json",
            body={"range": 1, "text": "end"})
    eventually(lambda: shown.evaluate("bound.text.value") == "end", "a binding goes on")
    check(shown.evaluate("bound.range.value") == "55", "until it is removed")
    shown.evaluate("for (const part of ['box', 'text', 'choice', 'shown']) bound.bindings[part].remove()")


def main():
    options = support.arguments(__doc__)
    with library.page(options) as (shown, url, proxy):
        shown.evaluate(library.SETUP, NAME)
        test_values(shown, url)
        test_own(shown, url)
        test_value_cut(shown, url, proxy)
        test_binding(shown, url, proxy)


if __name__ == "__main__":
    main()
