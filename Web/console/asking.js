// Asks: a request to an address, and its answer.

import { ask, path, send } from "./broker.js";
import { command, curl, placeOf } from "./copy.js";
import {
  body,
  button,
  code,
  facts,
  field,
  head,
  icon,
  named,
  observerLink,
  quiet,
  refusal,
  sheet,
} from "./parts.js";
import { jsonFault, userInfoFault } from "./draft.js";
import { queryText } from "./route.js";
import { h } from "./tree.js";
import { spoken } from "./words.js";

/// Seconds that the page waits for an answer.
const askWait = 60;

export function openAsk(app, { query }) {
  const draft = {
    object: query.object ?? "",
    selector: query.selector ?? "",
    userInfo: "",
    default: "",
  };
  let faults = {};
  let told = null;
  const put =
    (member) =>
    ({ target }) => {
      draft[member] = target.value;
      if (faults[member] && findFaults(draft, true)[member] === undefined) delete faults[member];
      app.paint();
    };
  /// Whether the draft has no fault; else the first field at fault gets the focus.
  function isRight(isAsked) {
    faults = findFaults(draft, isAsked);
    const [first] = Object.keys(faults);
    app.paint();
    if (first !== undefined) document.getElementById(`ask-${first}`).focus();
    return first === undefined;
  }
  async function submit(event) {
    event.preventDefault();
    if (!isRight(true)) return;
    told = { isWaiting: true };
    app.paint();
    try {
      const answer = await send(
        path("responders", draft.object, draft.selector),
        "POST",
        draft.userInfo,
        {
          headers: { Prefer: `wait=${askWait}` },
          query: { default: draft.default.trim() },
          wait: (askWait + 5) * 1000,
        },
      );
      told = { answer };
    } catch (error) {
      if (!("status" in error)) throw error;
      told = { refused: error };
    }
    app.acted(told.answer ? "Answered" : `Refused: ${told.refused.message}`);
  }
  async function explain() {
    if (!isRight(false)) return;
    const { object, selector } = draft;
    told = await ask("explain", { query: { object, selector } }).then(
      ({ ask: way }) => ({ way }),
      (refused) => ({ refused }),
    );
    app.paint();
  }
  return {
    title: "Ask",
    content: () =>
      h(
        "div",
        { key: "ask", class: "stack" },
        head("Ask", {
          note: "Sends a request to an address. The answer is the responder’s, or the default.",
        }),
        h(
          "div",
          { class: "grid" },
          h(
            "form",
            { class: "sheet body form s7", novalidate: true, onsubmit: submit },
            h(
              "div",
              { class: "pair" },
              field("ask-object", "Address", null, {
                value: draft.object,
                fault: faults.object,
                oninput: put("object"),
              }),
              field("ask-selector", "Selector", null, {
                value: draft.selector,
                fault: faults.selector,
                oninput: put("selector"),
              }),
            ),
            field(
              "ask-userInfo",
              "userInfo",
              "optional, a JSON object",
              {
                value: draft.userInfo,
                fault: faults.userInfo,
                rows: 3,
                placeholder: '{"sha": "4f2c"}',
                oninput: put("userInfo"),
              },
              "textarea",
            ),
            field("ask-default", "Default", "optional, JSON: the answer without a responder", {
              value: draft.default,
              fault: faults.default,
              oninput: put("default"),
            }),
            h(
              "p",
              { class: "rowf" },
              h("button", { class: "main" }, "Ask"),
              button("Show responder", explain),
            ),
          ),
          h(
            "div",
            { class: "s5 stack" },
            sheet("As curl", {}, body(command(asCurl(draft), "the command"))),
            told !== null && answerSheet(told),
          ),
        ),
      ),
  };
}

function findFaults({ object, selector, userInfo, default: given }, isAsked) {
  const faults = {};
  if (object === "") faults.object = "Enter an address.";
  if (selector === "") faults.selector = "Enter a selector.";
  if (!isAsked) return faults;
  const [first, second] = [userInfoFault(userInfo), jsonFault(given)];
  if (first !== null) faults.userInfo = first;
  if (second !== null) faults.default = second;
  return faults;
}

const asCurl = ({ object, selector, userInfo, default: given }) =>
  curl(
    placeOf(
      `responders/${path(object || "ADDRESS", selector || "SELECTOR")}`,
      queryText({ default: given.trim() }),
    ),
    { body: userInfo.trim() || "{}" },
  );

function answerSheet({ isWaiting, refused, answer, way }) {
  if (isWaiting)
    return sheet("Answer", {}, body(h("p", { class: "quiet" }, "Waiting for an answer …")));
  if (refused) return sheet("Answer", {}, body(refusal(refused)));
  if (answer) {
    return sheet(
      "Answer",
      {
        note:
          answer.by === "responder"
            ? ["from ", observerLink(answer.observer)]
            : `default: ${spoken(answer.reason)}`,
      },
      h(
        "div",
        { class: "body stack" },
        h("pre", { class: "box" }, JSON.stringify(answer.answer)),
        h("p", { class: "quiet" }, "Path: ", chain(answer.path)),
      ),
    );
  }
  return sheet(
    "Responder for this ask",
    {},
    body(
      facts([
        ["Outcome", spoken(way.outcome)],
        ["Observer", way.observer ? observerLink(way.observer) : named(null, "none")],
        ["Path", chain(way.path)],
        (way.skipped ?? []).length > 0
          ? [
              "Skipped",
              way.skipped.map(({ object, observer, reason }) =>
                h(
                  "div",
                  null,
                  observer ? observerLink(observer) : code(object),
                  quiet(` ${spoken(reason)}`),
                ),
              ),
            ]
          : null,
      ]),
    ),
  );
}

/// Addresses in the order in which they are asked.
export const chain = (addresses) =>
  addresses.length === 0
    ? quiet("none")
    : h(
        "span",
        { class: "chain" },
        addresses.map((one, place) => [
          place > 0 && icon("arrow"),
          h("span", { class: "chip" }, one),
        ]),
      );
