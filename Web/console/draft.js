// A post that is being written: what is wrong with it, and the request that it becomes.

/// Says what is wrong with JSON, or null; of no text at all it says `missing`.
export function jsonFault(text, missing = null) {
  if (text.trim() === "") return missing;
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `Invalid JSON: ${error.message}`;
  }
}

/// Says what is wrong with a userInfo, or null.
export function userInfoFault(text) {
  if (text.trim() === "") return null;
  try {
    const value = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? null : "This is valid JSON, but not an object: put { } around it.";
  } catch (error) {
    return `Invalid JSON: ${error.message}`;
  }
}

/// What is wrong with a draft, by field.
export function findFaults({ name, userInfo }) {
  const faults = {};
  if (name === "") faults.name = "Enter a name.";
  const fault = userInfoFault(userInfo);
  if (fault !== null) faults.userInfo = fault;
  return faults;
}

/// The options of a post that are not left at their default.
export function optionsOf({ style, byName, byObject, keep, more: given }) {
  const { key, causedBy, ...others } = given;
  const filled = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== ""));
  const compared = [byName && "name", byObject && "sender"].filter(Boolean).join(",") || "none";
  return {
    style,
    coalesce: style !== "" && compared !== "name,sender" ? compared : "",
    keep: style !== "" && style !== "now" && keep !== "first" ? keep : "",
    ...filled,
    ...(causedBy ? { causedBy } : {}),
  };
}

/// The options that are numbers, all of them of seconds, and those that are lists.
export const numbers = new Set(["ttl", "maxDelay", "after", "every"]);
export const lists = new Set(["modes", "coalesce"]);

/// The content of the request. The userInfo goes as it was typed: a round trip through JavaScript's
/// numbers would change long ones.
export function contentOf(draft) {
  const fields = [`"name":${JSON.stringify(draft.name)}`];
  if (draft.object !== "") fields.push(`"object":${JSON.stringify(draft.object)}`);
  if (draft.userInfo.trim() !== "") fields.push(`"userInfo":${draft.userInfo}`);
  for (const [option, value] of Object.entries(optionsOf(draft))) {
    if (value === "") continue;
    const json =
      numbers.has(option) && Number.isFinite(Number(value))
        ? value
        : lists.has(option) && value !== "none"
          ? JSON.stringify(value.split(","))
          : JSON.stringify(value);
    fields.push(`${JSON.stringify(option)}:${json}`);
  }
  const { key } = draft.more;
  return { text: `{${fields.join(",")}}`, headers: key ? { "Idempotency-Key": key } : {} };
}
