// What the broker answers to a post.

import { ask } from "./broker.js";
import { outcome } from "./explain.js";
import { body, button, code, observerLink, quiet, refusal, sheet, sums, table } from "./parts.js";
import { link } from "./route.js";
import { h } from "./tree.js";
import { clock, count, plural } from "./words.js";

/// A receipt as a sentence.
export function postedWords({ outcome: word, into, dueAt, matched, delivered, held }) {
  if (dueAt !== undefined) return `Scheduled: enters the queue at ${clock(dueAt)}.`;
  if (word === "queued") return "Queued.";
  if (word === "coalesced") return `Merged into ${into}, which is queued.`;
  if (word === "dequeued") return "Queued posts were removed.";
  if (matched === 0) return "Posted. No observer matched.";
  const kept = held > 0 ? `, ${count(held)} held` : "";
  return `Posted. ${plural(matched, "observer")} matched, ${count(delivered)} delivered${kept}.`;
}

/// What became of a post; the place is 0 for the last one.
export function receiptSheet({ name, answer, refused, took, time }, place, app) {
  const title = place === 0 ? "Receipt" : "Previous receipt";
  const note = [code(name), `, ${clock(time)}, ${took.toFixed(1)} ms`];
  if (refused) return sheet(title, { note }, body(refusal(refused)));
  const rows = answer.observers ?? [];
  const counts = [
    "matched",
    "delivered",
    "held",
    "coalesced",
    "dropped",
    "acknowledged",
    "refused",
    "pending",
  ]
    .filter((word) => answer[word] > 0 || word === "matched")
    .map((word) => [word, count(answer[word])]);
  return sheet(
    title,
    { note },
    h(
      "div",
      { class: "body stack" },
      h("p", null, h("b", null, postedWords(answer))),
      answer.matched !== undefined && sums(counts),
      h("p", { class: "quiet" }, code(answer.id)),
      answer.matched === 0 &&
        h("p", null, h("a", { href: link("explain", null, { name }) }, "Near matches")),
      answer.matched === undefined && fateLine(answer, app),
    ),
    rows.length > 0 &&
      table(
        "Outcome per observer",
        [["Observer"], ["Outcome"]],
        rows.map((row) => ({
          key: row.id,
          cells: [
            observerLink(row.id),
            [outcome(row), row.error !== undefined && quiet(` ${JSON.stringify(row.error)}`)],
          ],
        })),
      ),
  );
}

/// Of a post that waits: where it is, and what became of it.
function fateLine(answer, app) {
  async function look() {
    const { state, receipt } = await ask(`notifications/${answer.id}`);
    answer.fate = receipt ? postedWords(receipt) : `State: ${state}.`;
    app.paint();
  }
  return h(
    "p",
    { class: "rowf" },
    h(
      "a",
      { href: link(answer.dueAt ? "timers" : "queue") },
      answer.dueAt ? "Show timer" : "Show queue",
    ),
    button(
      "Refresh outcome",
      () =>
        look().catch((error) => {
          answer.fate = error.message;
          app.paint();
        }),
      { class: "bare" },
    ),
    answer.fate && quiet(answer.fate),
  );
}
