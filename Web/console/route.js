// The address of a view: `#observers?state=slow&sort=-held`, `#observer/o17`. It has all that is
// needed to show the same again, so that it can be sent to a colleague, and Back works.

/// The address of a view, perhaps of one thing in it; what is null or empty stays out of the query.
export function link(view, id = null, query = {}) {
  const path = id === null ? view : `${view}/${encodeURIComponent(id)}`;
  const text = queryText(query);
  return text === "" ? `#${path}` : `#${path}?${text}`;
}

/// A query of given values. `+` is itself in the broker's queries, so a blank is %20.
export function queryText(query) {
  const given = Object.entries(query).filter(([, value]) => (value ?? "") !== "");
  return new URLSearchParams(given).toString().replaceAll("+", "%20");
}

/// The view that an address names, the thing in it or null, and the query as an object.
export function parse(hash) {
  const [path, query = ""] = hash.replace(/^#/, "").split("?");
  const [view, id = null] = path.split("/");
  return {
    view: view === "" ? "overview" : view,
    id: id === null ? null : decoded(id),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
