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
      h("h1", { tabindex: "-1" }, "This broker wants a token"),
      h(
        "p",
        { class: "quiet" },
        "Callers without one may not look inside (401). Ask whoever runs it for ",
        "a token with the grant ",
        code("inspect"),
        ", or make one; its second line goes into the ",
        "broker’s key file:",
      ),
      command(grantCommand, "the command that makes a token"),
      field("token", "Token", null, {
        type: "password",
        value: shown ?? "",
        "data-first": true,
        fault: shown === null ? null : "This token is not known to the broker, or has expired.",
      }),
      h(
        "p",
        { class: "quiet" },
        h("small", null, "It stays in this tab, and goes when the tab does."),
      ),
      h("p", { class: "rowf" }, h("button", { class: "main" }, "Look inside")),
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
      : ["It belongs to ", code(me.principal)];
  return h(
    "div",
    { key: "door", class: "sheet lone" },
    body(
      h(
        "h1",
        { tabindex: "-1" },
        mayPost ? "Your token may post, not look inside" : "Your token may not look inside",
      ),
      h(
        "p",
        null,
        who,
        me !== null &&
          me.grants.length > 0 && [
            me.principal === null ? " may " : ", and may ",
            grantWords(me.grants),
          ],
        ". This view needs ",
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
    head(app.view.title ?? "It was refused"),
    refusal(error),
  );

export const noCenter = () =>
  h(
    "div",
    { key: "center", class: "stack" },
    head(["There is no center ", code(centerName)], {
      note: "It comes into being with its first post or observer; a look makes none.",
      acts: [h("a", { class: "btn", href: link("post") }, "Post a notification")],
    }),
  );

export const away = (app) =>
  h(
    "div",
    { key: "away", class: "stack" },
    head(app.view.title ?? "Belfry", { note: "Nothing is known yet: the broker does not answer." }),
  );

/// Who the caller is, what they may, and the keys of the page.
export function openMe(app) {
  return {
    title: "You",
    content() {
      const { me } = app;
      return h(
        "div",
        { class: "stack" },
        head("You"),
        h(
          "div",
          { class: "grid" },
          h(
            "section",
            { class: "sheet s6" },
            h("header", null, h("h2", null, "Who the broker sees")),
            body(
              me === null
                ? h("p", { class: "quiet" }, "The broker does not tell who you are.")
                : h(
                    "dl",
                    { class: "facts" },
                    h(
                      "div",
                      null,
                      h("dt", null, "Principal"),
                      h("dd", null, named(me.principal, "nobody: no token is shown")),
                    ),
                    h(
                      "div",
                      null,
                      h("dt", null, "May"),
                      h(
                        "dd",
                        null,
                        me.grants.length === 0 ? quiet("nothing") : grantWords(me.grants),
                      ),
                    ),
                    h(
                      "div",
                      null,
                      h("dt", null, "Until"),
                      h("dd", null, me.expiresAt === null ? quiet("no end") : date(me.expiresAt)),
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
      field("other-token", "Token", "stays in this tab", { type: "password" }),
      h(
        "p",
        { class: "rowf" },
        h("button", { class: "main" }, "Use it"),
        token() !== null && button("Forget the one in use", () => useToken(null)),
      ),
    ),
  );
}
