// Who is here, as the value of the object "presence":
//
//   {"KEY": {"name": "Ann", "isLooking": true, "since": "2026-11-25T08:00:00.000Z"}, …}
//
// Each window sets an entry with a lease. The lease runs once the window's connection is lost, however that happened,
// and then the broker removes the entry: no window sends "I am still here", and none has to say goodbye.

const query = new URLSearchParams(location.search);
const broker = query.get("broker") ?? `${location.protocol}//${location.hostname}:8080`;
const object = "presence";

/// Seconds that a window stays in the list after its connection was lost: enough to load a page again.
const lease = 2;

const find = (id) => document.getElementById(id);

/// This window: the one that it was, when it is loaded again, but not that of which it is a copy.
function myself() {
  const [{ type } = {}] = performance.getEntriesByType("navigation");
  const kept = type === "reload" ? JSON.parse(sessionStorage.getItem(object)) : null;
  if (kept !== null) return kept;
  const key = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  return { key, name: `Window ${key.slice(-3)}`, since: new Date().toISOString() };
}

/// Lists the entries, oldest first; anybody may write into the value, so that others than these are left out.
function show(entries, mine) {
  const sorted = Object.entries(entries ?? {})
    .filter(([, entry]) => typeof entry?.since === "string")
    .sort(([, one], [, other]) => one.since.localeCompare(other.since));
  find("who").replaceChildren(...sorted.map(([key, { name, isLooking, since }]) => {
    const item = document.createElement("li");
    const [who, when] = ["span", "small"].map((kind) => document.createElement(kind));
    item.className = isLooking ? "here" : "";
    who.textContent = key === mine ? `${name} (you)` : name;
    const time = new Date(since).toLocaleTimeString([], { timeStyle: "short" });
    when.textContent = `${isLooking ? "here" : "in the background"}, since ${time}`;
    item.append(who, when);
    return item;
  }));
}

const me = myself();
find("name").value = me.name;

try {
  const { NotificationCenter } = await import(new URL("/belfry.js", broker));
  const center = new NotificationCenter(broker);

  const enter = async () => {
    find("state").textContent =
      center.state === "open" ? `Shared, at ${broker}` : "No connection. It comes back by itself.";
    if (center.state !== "open") return;
    me.name = find("name").value;
    sessionStorage.setItem(object, JSON.stringify(me));
    const { key, name, since } = me;
    await center.setValue(object, key, { name, isLooking: !document.hidden, since }, { lease });
  };
  const enterAgain = () => enter().catch(({ message }) => { find("state").textContent = message; });

  await center.addObserver({ object, keyPath: "" }, (entries) => show(entries, me.key));
  find("name").addEventListener("input", enterAgain);
  document.addEventListener("visibilitychange", enterAgain);
  // Another connection is another client, whose entry this is from then on.
  center.addEventListener("state", enterAgain);
  await enter();
} catch (error) {
  find("state").textContent = `No broker at ${broker}: ${error.message}`;
}
