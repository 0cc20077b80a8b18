// Who asks, and what they may: the grants of `GET /v1/me`.

import { centerName } from "./broker.js";
import { code } from "./parts.js";

/// Whether a text is covered: exactly, or by a prefix that ends with `*`.
const covers = (patterns, text) =>
  patterns.some((pattern) =>
    pattern.endsWith("*") ? text.startsWith(pattern.slice(0, -1)) : pattern === text,
  );

/// Whether a caller may do this somewhere in the center. The broker decides; this is for what is
/// shown.
export const mayDo = ({ grants }, verb) =>
  grants.some(({ verbs, centers }) => verbs.includes(verb) && covers(centers, centerName));

const isAll = (patterns) => patterns.includes("*");
const listed = (texts) => texts.map((text, place) => [place > 0 && ", ", code(text)]);

/// Grants as words: `post on Sale*; observe, inspect`.
export const grantWords = (grants) =>
  grants.map(({ verbs, names, objects, centers }, place) => [
    place > 0 && "; ",
    listed(verbs),
    !isAll(names) && [" on ", listed(names)],
    !isAll(objects) && [" of ", listed(objects)],
    !isAll(centers) && [" in ", listed(centers)],
  ]);
