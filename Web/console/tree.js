// What is shown, as data. A view is a function from what is known to a tree of `h`, and `show`
// makes the page the same as the tree: nodes that are there already stay, with their focus, and a
// text is touched only when it differs. Nothing here reads text as HTML.

const svgSpace = "http://www.w3.org/2000/svg";

/// The tree that a node shows.
const shownBy = new WeakMap();

/// An element. Attributes that are null, undefined or false are left out; those that begin with
/// `on` are handlers; `ref` is called with a new node; `key` tells apart rows that move; and with
/// `own` the children are somebody else's.
export function h(tag, attributes, ...children) {
  return { tag, attributes: attributes ?? {}, children };
}

/// Makes the content of a place the same as these trees and texts.
export function show(place, ...content) {
  const wanted = content.flat(Infinity).filter(isShown);
  const keys = new Set(wanted.map(keyOf));
  const keyed = new Map();
  for (const node of [...place.childNodes]) {
    const key = keyOf(shownBy.get(node));
    if (key === undefined) continue;
    if (keys.has(key)) keyed.set(key, node);
    else node.remove();
  }
  let next = place.firstChild;
  for (const one of wanted) {
    let node = keyed.get(keyOf(one)) ?? next;
    if (!fits(node, one)) node = make(one, place);
    if (node === next) next = next.nextSibling;
    else place.insertBefore(node, next);
    update(node, one);
  }
  while (next !== null) {
    const after = next.nextSibling;
    next.remove();
    next = after;
  }
}

const isShown = (one) => one !== null && one !== undefined && one !== false && one !== "";
const keyOf = (one) => one?.attributes?.key;

function fits(node, one) {
  if (node === null) return false;
  if (typeof one !== "object") return node.nodeType === Node.TEXT_NODE;
  return node.localName === one.tag && keyOf(shownBy.get(node)) === keyOf(one);
}

function make(one, place) {
  if (typeof one !== "object") return document.createTextNode(one);
  const space = one.tag === "svg" ? svgSpace : place.namespaceURI;
  const node = document.createElementNS(space, one.tag);
  one.attributes.ref?.(node);
  return node;
}

function update(node, one) {
  if (typeof one !== "object") {
    if (node.data !== String(one)) node.data = one;
    return;
  }
  const before = shownBy.get(node);
  if (before === one) return;
  shownBy.set(node, one);
  const names = new Set([...Object.keys(before?.attributes ?? {}), ...Object.keys(one.attributes)]);
  for (const name of names) {
    const value = one.attributes[name];
    if (before?.attributes[name] !== value) set(node, name, value);
  }
  if (!one.attributes.own) show(node, ...one.children);
}

function set(node, name, value) {
  if (name === "key" || name === "ref" || name === "own") return;
  if (name.startsWith("on")) node[name] = value ?? null;
  else if (name === "value" || name === "checked") {
    // What somebody types is newer than what is shown of it.
    if (node !== document.activeElement || name === "checked") node[name] = value ?? "";
  } else if (!isShown(value) && value !== "") node.removeAttribute(name);
  else node.setAttribute(name, value === true ? "" : value);
}
