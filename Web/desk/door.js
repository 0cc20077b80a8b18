// The form before the desk: the addresses, the selectors and the token.

import { centerName, keepToken, token } from "../console/broker.js";
import { h } from "../console/tree.js";
import { namesIn } from "./settings.js";
import { bell } from "./view.js";

/// The form; `fault` is what the broker said to the last attempt.
export const door = ({ settings, begin, fault }) => [
  h("header", { class: "top" }, h("h1", {}, bell, "Desk")),
  h(
    "main",
    { class: "door" },
    fault !== null && h("p", { class: "note bad", role: "alert" }, words(fault)),
    h(
      "form",
      {
        class: "sheet",
        onsubmit(event) {
          event.preventDefault();
          const { elements } = event.target;
          keepToken(elements.token.value.trim() || null);
          begin({
            ...settings,
            addresses: namesIn(elements.address.value),
            selectors: namesIn(elements.selectors.value),
            isLasting: elements.lasting.checked,
          });
        },
      },
      h("p", {}, "Programs ask, and you answer here."),
      field("address", "Address", "such as deploy, shop", settings.addresses),
      field("selectors", "Questions", "such as shouldStart", settings.selectors),
      h(
        "div",
        {},
        h("label", { for: "token" }, "Token ", h("small", {}, "if the broker asks for one")),
        h("input", { id: "token", type: "password", autocomplete: "off", value: token() ?? "" }),
      ),
      h(
        "label",
        {},
        h("input", { id: "lasting", type: "checkbox", checked: settings.isLasting }),
        "Keep the token on this device",
      ),
      h("button", { class: "main" }, "Answer here"),
      centerName !== "default" && h("p", { class: "quiet" }, `The center is ${centerName}.`),
    ),
  ),
];

const field = (id, label, hint, names) =>
  h(
    "div",
    {},
    h("label", { for: id }, label, " ", h("small", {}, hint)),
    h("input", {
      id, value: names.join(", "), required: true,
      autocomplete: "off", autocapitalize: "off", spellcheck: "false",
    }),
  );

/// What was refused, and what to do about that.
function words({ problem, message }) {
  switch (problem?.status) {
    case 401:
      return token() === null
        ? "This broker asks for a token. Its operator can give you one."
        : "The broker does not know this token, or the token has expired. Ask for another one.";
    case 403:
      return `This token may not answer here. It needs the grant respond${covered(problem)}.`;
    case 409:
      return "Somebody else holds this address and does not share it. Stop that one first.";
    default:
      return problem === null ? message : `${problem.title}. ${problem.detail ?? ""}`;
  }
}

const covered = ({ name, object }) =>
  (object ? ` at ${object}` : "") + (name ? ` for ${name}` : "");
