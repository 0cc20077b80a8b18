// What reached nobody, and what nobody posted.

import { copyButton, curl, placeOf } from "./copy.js";
import { channelLink, empty, head, observerLink, sheet, table } from "./parts.js";
import { unheardNames } from "./reports.js";
import { link } from "./route.js";
import { h } from "./tree.js";
import { count } from "./words.js";

export function openUnheard(app) {
  return {
    title: "Who is not heard",
    read: () => unheardNames(100),
    content: ({ postedNeverObserved: posted, observedNeverPosted: observed }) =>
      h(
        "div",
        { key: "unheard", class: "stack" },
        head("Who is not heard", {
          note: "Names are compared letter by letter: one letter keeps two names apart.",
          acts: [copyButton(() => curl(placeOf("reports/unmatched")), "Copy as curl")],
        }),
        h(
          "div",
          { class: "grid" },
          sheet(
            "Posted, and observed by nobody",
            { place: "s6 m6" },
            posted.length === 0
              ? empty("Each name that was posted is observed by somebody.")
              : table(
                  "Names that were posted and never observed",
                  [
                    ["Name", "nm"],
                    ["Posts", "r"],
                    ["", "r p2"],
                  ],
                  posted.map(({ name, posts }) => ({
                    key: name,
                    cells: [
                      channelLink(name),
                      count(posts),
                      h("a", { href: link("explain", null, { name }) }, "Who nearly gets it"),
                    ],
                  })),
                ),
          ),
          sheet(
            "Observed, and posted by nobody",
            { place: "s6 m6" },
            observed.length === 0
              ? empty("Each name that is observed was posted at least once.")
              : table(
                  "Observers of names that were never posted",
                  [["Observer"], ["Name", "nm"]],
                  observed.map(({ id, name }) => ({
                    key: id,
                    cells: [observerLink(id), channelLink(name)],
                  })),
                ),
          ),
        ),
      ),
  };
}
