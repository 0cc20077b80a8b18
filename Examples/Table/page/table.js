// The page of the table: it has as many rows as its data source says, and asks for those that can be seen.
//
// The data source is whoever holds the address "people". When it says that something did change, the page asks again.

const query = new URLSearchParams(location.search);
const broker = query.get("broker") ?? `${location.protocol}//${location.hostname}:8080`;

const find = (id) => document.getElementById(id);
const [state, view, list] = ["state", "view", "rows"].map(find);
const rowHeight = 3 * parseFloat(getComputedStyle(document.documentElement).fontSize);

/// The number of the last question: an answer to an earlier one shows nothing any more.
let asked = 0;

function item(row, touch) {
  const made = document.createElement("li");
  made.style.top = `${row.n * rowHeight}px`;
  const text = document.createElement("span");
  text.textContent = `${row.name}: ${row.value}`;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Touch";
  button.setAttribute("aria-label", `Touch ${row.name}`);
  button.addEventListener("click", () => touch(row.n));
  made.append(text, button);
  return made;
}

/// Asks for the rows that can be seen, and shows them where they belong.
async function show(center) {
  const number = (asked += 1);
  const first = Math.max(0, Math.floor(view.scrollTop / rowHeight) - 5);
  const count = Math.ceil(view.clientHeight / rowHeight) + 10;
  try {
    const { answer } = await center.ask("people", "rows", { first, count }, { wait: 10 });
    if (number !== asked) return;
    const touch = (row) => center.post("touch", { object: "people", userInfo: { row } });
    // Who works in the list goes on there.
    const place = [...list.children].findIndex((row) => row.contains(document.activeElement));
    list.replaceChildren(...answer.rows.map((row) => item(row, touch)));
    list.children[place]?.querySelector("button").focus();
    const last = answer.rows.at(-1)?.n ?? 0;
    state.textContent = `Rows ${first} to ${last}, told by ${answer.source}`;
  } catch (error) {
    if (number === asked) state.textContent = `No rows: ${error.message}`;
  }
}

try {
  const { NotificationCenter } = await import(new URL("/belfry.js", broker));
  const center = new NotificationCenter(broker);
  const { answer: count } = await center.ask("people", "count", null, { wait: 10 });
  list.style.height = `${count * rowHeight}px`;
  await center.addObserver({ name: "didChange", object: "people" }, () => show(center));
  let isWaiting = false;
  view.addEventListener("scroll", () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      show(center);
    });
  });
  await show(center);
} catch (error) {
  state.textContent = `No table from ${broker}: ${error.message}`;
}
