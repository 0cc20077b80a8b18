// The requests that answer an ask, and that tell its fate. The library answers over its line, which
// has no place for a reason and no word of whether the answer was in time; a request has both.

import { ask, path, send } from "../console/broker.js";

/// Refusals after which the same answer may still be taken.
const passing = new Set([401, 408, 421, 429, 503, 504]);

/// Sends an answer. Tells `taken`, `late` where the ask is over or somebody else's, `later` where the
/// broker cannot take the answer now, or `refused` with the fault.
export async function sendAnswer({ id, answer: { value, reason } }, observerToken) {
  try {
    await send(path("notifications", id, "answer"), "PUT", JSON.stringify(value), {
      headers: { "Belfry-Token": observerToken },
      query: { reason },
    });
    return { outcome: "taken" };
  } catch ({ status, message, problem }) {
    if (status === null || passing.has(status)) return { outcome: "later" };
    if ([404, 409, 410].includes(status)) return { outcome: "late" };
    return { outcome: "refused", fault: problem?.errors?.[0]?.detail ?? message };
  }
}

/// The fate of an ask; null where this reader may not know, undefined where the broker is away.
export const fateOf = (id) =>
  ask(path("notifications", id)).catch(({ status }) => (status === null ? undefined : null));

/// A fate as a sentence; `choices` give the answer its name.
export function fateWords({ state, by, answer, answeredBy, reason, problem }, choices) {
  switch (state) {
    case "answered": {
      if (by === "default") return "Nobody answered. The asker has its default.";
      const who = answeredBy ?? "somebody without a token";
      const why = reason ? `: ${reason}` : ".";
      return `${who} answered “${nameOf(answer, choices)}”${why}`;
    }
    case "withdrawn":
      return "The asker has withdrawn the question.";
    case "failed":
      return problem.type.endsWith("/no-answer")
        ? "Nobody answered in time."
        : `${problem.title}.`;
    default:
      return "Somebody else is asked now.";
  }
}

/// The label of the choice that has this value, or the value itself.
function nameOf(answer, choices) {
  const text = JSON.stringify(answer);
  const choice = choices.find(({ value }) => JSON.stringify(value) === text);
  return choice?.label ?? (typeof answer === "string" ? answer : text);
}
