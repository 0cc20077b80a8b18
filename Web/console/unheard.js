// Posts without an observer, and observers without a post.

import { copyButton, curl, placeOf } from "./copy.js";
import { channelLink, empty, head, observerLink, sheet, table } from "./parts.js";
import { unheardNames } from "./reports.js";
import { link } from "./route.js";
import { h } from "./tree.js";
import { count } from "./words.js";

export function openUnheard(app) {
  return {
    title: "Posts without observers",
    read: () => unheardNames(100),
    content: ({ postedNeverObserved: posted, observedNeverPosted: observed }) =>
      h(
        "div",
        { key: "unheard", class: "stack" },
        head("Posts without observers", {
          note: "Names must match exactly, upper and lower case included.",
          acts: [copyButton(() => curl(placeOf("reports/unmatched")), "Copy as curl")],
        }),
        h(
          "div",
          { class: "grid" },
          sheet(
            "Posted, not observed",
            { place: "s6 m6" },
            posted.length === 0
              ? empty("Every posted name has an observer.")
              : table(
                  "Posted names without an observer",
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
                      h("a", { href: link("explain", null, { name }) }, "Near matches"),
                    ],
                  })),
                ),
          ),
          sheet(
            "Observed, never posted",
            { place: "s6 m6" },
            observed.length === 0
              ? empty("Every observed name was posted at least once.")
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
