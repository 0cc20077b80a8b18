// A chat. Lines are notifications, which an archive keeps: a page begins with the last fifty of them, and asks for
// earlier ones. The list of members is a value in which each window has an entry with a lease.

const query = new URLSearchParams(location.search);
const broker = query.get("broker") ?? `${location.protocol}//${location.hostname}:8080`;
const [name, page, lease] = ["Chat", 50, 5];

const find = (id) => document.getElementById(id);
const say = (text) => { find("state").textContent = text; };
/// The lowest `seq` that is shown.
let oldest = Infinity;

function item({ seq, postedAt, userInfo }) {
  oldest = Math.min(oldest, seq);
  const [line, time] = ["li", "time"].map((kind) => document.createElement(kind));
  time.textContent = new Date(postedAt).toLocaleTimeString([], { timeStyle: "short" });
  line.append(time, ` ${userInfo?.who ?? "somebody"}: ${userInfo?.text ?? ""}`);
  return line;
}

/// Lines from the last fifty on, or behind the last one that was seen.
function observe(last = null) {
  const where = last === null ? { last: page } : { last_event_id: last };
  const stream = new EventSource(`${broker}/v1/events?${new URLSearchParams({ name, ...where })}`);
  stream.onopen = () => {
    say(`Live, at ${broker}`);
    find("earlier").hidden = false;
  };
  stream.onmessage = ({ data, lastEventId }) => {
    last = lastEventId;
    find("lines").append(item(JSON.parse(data)));
  };
  stream.addEventListener("belfry.gap", () => {
    const line = document.createElement("li");
    line.textContent = "Lines are missing here.";
    find("lines").append(line);
  });
  stream.onerror = () => {
    say("Away. It comes back by itself.");
    // A browser sends the last id when it comes back, unless the broker has refused it.
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => observe(last), 1000);
  };
}

async function showEarlier() {
  const before = oldest === Infinity ? {} : { before: oldest };
  const asked = new URLSearchParams({ name, order: "newest", limit: page, ...before });
  const { notifications, next } = await (await fetch(`${broker}/v1/notifications?${asked}`)).json();
  find("lines").prepend(...notifications.reverse().map(item));
  find("earlier").disabled = next === null;
}

const key = `w${Math.random().toString(36).slice(2)}`;
find("name").value = `Guest ${key.slice(-3)}`;
observe();
find("earlier").onclick = () => showEarlier().catch(({ message }) => say(message));

try {
  const { NotificationCenter } = await import(new URL("/belfry.js", broker));
  const center = new NotificationCenter(broker);
  const enter = () =>
    center.state === "open" &&
    center
      .setValue("chat", `who.${key}`, { name: find("name").value }, { lease })
      .catch(({ message }) => say(message));
  await center.addObserver({ object: "chat", keyPath: "who" }, (entries) => {
    const names = Object.values(entries ?? {}).map((entry) => entry?.name ?? "somebody");
    find("who").textContent = names.sort().join(", ") || "nobody";
  });
  find("name").oninput = enter;
  // Another connection is another client, whose entry this is from then on.
  center.addEventListener("state", enter);
  await enter();
  find("say").onsubmit = async (event) => {
    event.preventDefault();
    const userInfo = { who: find("name").value, text: find("text").value };
    try {
      await center.post(name, { userInfo });
      find("text").value = "";
    } catch ({ message }) {
      say(message);
    }
  };
} catch ({ message }) {
  say(`No broker at ${broker}: ${message}`);
}
