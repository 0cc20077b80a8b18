// What stands in place of a view: the question for a token, why the caller may not look, and what
// was refused.

import { centerName, keepToken, token } from "./broker.js";
import { grantWords } from "./caller.js";
import { command } from "./copy.js";
import { body, button, code, field, head, named, quiet, refusal } from "./parts.js";
import { link } from "./route.js";
import { h } from "./tree.js";
import { date } from "./words.js";

const grantCommand = `belfry gen-token me --grants '[{"verbs":["inspect"]}]'`;

/// Shows the broker another token, or none.
function useToken(text) {
  keepToken(text);
  location.reload();
}

/// The text of the field is kept while the page asks again.
export function tokenQuestion() {
  const shown = token();
  return h(
    "div",
    { key: "door", class: "sheet lone" },
    h(
      "form",
      {
        class: "body",
        autocomplete: "off",
        onsubmit(event) {
          event.preventDefault();
          const text = document.getElementById("token").value.trim();
          if (text !== "") useToken(text);
        },
      },
      h("h1", { tabindex: "-1" }, "This broker requires a token"),
      h(
        "p",
        { class: "quiet" },
        "Callers without one cannot inspect it (401). Ask the operator for a token with the grant ",
        code("inspect"),
        ", or make one and put the second line of the output into the broker’s key file:",
      ),
      command(grantCommand, "the command that makes a token"),
      field("token", "Token", null, {
        type: "password",
        value: shown ?? "",
        "data-first": true,
        fault:
          shown === null
            ? null
            : "The broker does not know this token, or the token has expired.",
      }),
      h(
        "p",
        { class: "quiet" },
        h("small", null, "The token stays in this tab, and is forgotten when the tab closes."),
      ),
      h("p", { class: "rowf" }, h("button", { class: "main" }, "Use this token")),
    ),
  );
}

export function forbidden(app, error) {
  const { me } = app;
  const need = error.problem?.verb ?? "inspect";
  const mayPost = app.may("post");
  const who =
    me === null || me.principal === null
      ? "Callers without a token"
      : ["Your token belongs to ", code(me.principal)];
  return h(
    "div",
    { key: "door", class: "sheet lone" },
    body(
      h(
        "h1",
        { tabindex: "-1" },
        mayPost ? "You can post, but not inspect" : "You cannot inspect this broker",
      ),
      h(
        "p",
        null,
        who,
        me !== null &&
          me.grants.length > 0 && [
            me.principal === null ? " have: " : ", and has: ",
            grantWords(me.grants),
          ],
        ". This view needs the grant ",
        code(need),
        " (403).",
      ),
      h(
        "p",
        { class: "rowf" },
        mayPost && h("a", { class: "btn", href: link("post") }, "Post a notification"),
        h("a", { class: "btn", href: link("me") }, "Use another token"),
      ),
    ),
  );
}

export const refused = (app, error) =>
  h(
    "div",
    { key: "refused", class: "stack" },
    head(app.view.title ?? "Request refused"),
    refusal(error),
  );

export const noCenter = () =>
  h(
    "div",
    { key: "center", class: "stack" },
    head(["There is no center ", code(centerName)], {
      note: "The first post or observer creates it; viewing it does not.",
      acts: [h("a", { class: "btn", href: link("post") }, "Post a notification")],
    }),
  );

/// An address that leads to no view.
export const openUnknown = (app) => ({
  title: "Unknown address",
  content: () =>
    h(
      "div",
      { key: "unknown", class: "stack" },
      head("Unknown address", {
        note: ["The console has no view at ", code(location.hash), "."],
        acts: [h("a", { class: "btn main", href: link("overview") }, "Overview")],
      }),
    ),
});

export const away = (app) =>
  h(
    "div",
    { key: "away", class: "stack" },
    head(app.view.title ?? "Belfry", { note: "No data yet: the broker is not responding." }),
  );

/// Who the caller is, what they may, and the keys of the page.
export function openMe(app) {
  return {
    title: "Your access",
    content() {
      const { me } = app;
      return h(
        "div",
        { class: "stack" },
        head("Your access"),
        h(
          "div",
          { class: "grid" },
          h(
            "section",
            { class: "sheet s6" },
            h("header", null, h("h2", null, "Identity")),
            body(
              me === null
                ? h("p", { class: "quiet" }, "The broker did not report your identity.")
                : h(
                    "dl",
                    { class: "facts" },
                    h(
                      "div",
                      null,
                      h("dt", null, "Principal"),
                      h("dd", null, named(me.principal, "anonymous (no token)")),
                    ),
                    h(
                      "div",
                      null,
                      h("dt", null, "Grants"),
                      h(
                        "dd",
                        null,
                        me.grants.length === 0 ? quiet("none") : grantWords(me.grants),
                      ),
                    ),
                    h(
                      "div",
                      null,
                      h("dt", null, "Expires"),
                      h("dd", null, me.expiresAt === null ? quiet("never") : date(me.expiresAt)),
                    ),
                  ),
            ),
          ),
          tokenSheet(),
        ),
      );
    },
  };
}

function tokenSheet() {
  return h(
    "section",
    { class: "sheet s6" },
    h("header", null, h("h2", null, "Another token")),
    h(
      "form",
      {
        class: "body stack",
        autocomplete: "off",
        onsubmit(event) {
          event.preventDefault();
          const text = document.getElementById("other-token").value.trim();
          if (text !== "") useToken(text);
        },
      },
      field("other-token", "Token", "kept in this tab", { type: "password" }),
      h(
        "p",
        { class: "rowf" },
        h("button", { class: "main" }, "Use this token"),
        token() !== null && button("Forget the current token", () => useToken(null)),
      ),
    ),
  );
}
