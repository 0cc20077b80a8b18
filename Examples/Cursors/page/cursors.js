// A board that shows where everybody's pointer is. Each move is a notification "CursorMoved" whose object is the
// window, and nothing on this page counts or delays moves: the broker does.
//
// - Who posts says that a later move stands for those before it (`coalesce` and `keep`).
// - Who observes says how often it wants to hear of each cursor (`minInterval`), and has the last place of each.

const query = new URLSearchParams(location.search);
const broker = query.get("broker") ?? `${location.protocol}//${location.hostname}:8080`;

const find = (id) => document.getElementById(id);

/// Says what did not work; what was only given up did nothing wrong.
function report({ name, message }) {
  if (name !== "AbortError") find("state").textContent = message;
}

/// This window, as the sender of its moves.
const me = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;

/// Where my pointer is, in shares of the board.
let place = { x: 0.5, y: 0.5 };

/// The element of each cursor by its window.
const cursors = new Map();

const within = (share) => Math.min(Math.max(share, 0), 1);

/// A color of its own for each window, the same everywhere.
const hue = (text) => [...text].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 360, 0);

function draw(object, { x, y, name }) {
  if (!Number.isFinite(x) || !Number.isFinite(y)) return;
  if (!cursors.has(object)) {
    const made = document.createElement("div");
    made.className = "cursor";
    made.append(document.createElement("span"));
    made.style.setProperty("--hue", hue(object));
    cursors.set(object, made);
    find("board").append(made);
  }
  const cursor = cursors.get(object);
  cursor.style.left = `${100 * within(x)}%`;
  cursor.style.top = `${100 * within(y)}%`;
  cursor.firstChild.textContent = name;
}

function erase(object) {
  cursors.get(object)?.remove();
  cursors.delete(object);
}

try {
  const { NotificationCenter } = await import(new URL("/belfry.js", broker));
  const center = new NotificationCenter(broker);

  const tell = () => {
    if (center.state !== "open") return;
    const userInfo = { ...place, name: find("name").value };
    // A move that is lost with its connection is of no use later.
    center.post("CursorMoved", {
      object: me, userInfo, style: "asap", coalesce: ["name", "sender"], keep: "latest",
    }).catch(() => {});
  };
  const move = (x, y) => {
    place = { x: within(x), y: within(y) };
    tell();
  };

  const board = find("board");
  board.addEventListener("pointermove", ({ clientX, clientY }) => {
    const { left, top, width, height } = board.getBoundingClientRect();
    move((clientX - left) / width, (clientY - top) / height);
  });
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  board.addEventListener("keydown", (event) => {
    if (!(event.key in steps)) return;
    event.preventDefault();
    const [across, down] = steps[event.key];
    move(place.x + across * 0.02, place.y + down * 0.02);
  });
  find("name").value = `Window ${me.slice(-3)}`;
  find("name").addEventListener("input", tell);

  /// Observes the moves as often as it was chosen; what was chosen before ends with its signal.
  let choice = new AbortController();
  const observe = () => {
    choice.abort();
    choice = new AbortController();
    const minInterval = Number(find("interval").value);
    const filter = { name: "CursorMoved", minInterval, signal: choice.signal };
    return center.addObserver(filter, ({ object, userInfo }) => {
      draw(object, userInfo ?? {});
      if (object !== me) find("count").value = Number(find("count").value) + 1;
    });
  };
  find("interval").addEventListener("change", () => observe().catch(report));

  /// Says that this window is here, and what is to be said when it is gone, however it goes.
  const enter = async () => {
    find("state").textContent =
      center.state === "open" ? `Shared, at ${broker}` : "No connection. It comes back by itself.";
    if (center.state !== "open") return;
    // Who went while this window was away is not there any more; who is there answers.
    for (const object of [...cursors.keys()]) erase(object);
    await center.post("CursorGone", { object: me, onDisconnect: true });
    await center.post("CursorAsked");
  };
  await center.addObserver("CursorGone", ({ object }) => erase(object));
  await center.addObserver("CursorAsked", tell);
  await observe();
  center.addEventListener("state", () => enter().catch(report));
  await enter();
} catch (error) {
  find("state").textContent = `No broker at ${broker}: ${error.message}`;
}
