// A dashboard that survives a restart of its broker. The figures are the value of the object "shop": whoever comes back
// has what is there now. What happened are notifications: the broker keeps them for a page that is away, as
// many as the page shows, also over a restart. What it could not keep is told as a gap, and stands here.

const query = new URLSearchParams(location.search);
const broker = query.get("broker") ?? `${location.protocol}//${location.hostname}:8080`;

/// Notes that the page shows, and that the broker keeps for it.
const limit = 20;

const find = (id) => document.getElementById(id);
const make = (element, textContent) => Object.assign(document.createElement(element), { textContent });
const clock = (date) => new Date(date).toLocaleTimeString();

function showFigures(figures = {}) {
  const entries = Object.entries(figures);
  find("none").hidden = entries.length > 0;
  find("figures").replaceChildren(...entries.map(([name, figure]) => {
    const tile = document.createElement("div");
    tile.append(make("dt", name), make("dd", figure.toLocaleString()));
    return tile;
  }));
}

function showNote({ postedAt, userInfo }) {
  const item = document.createElement("li");
  item.append(make("time", clock(postedAt)), userInfo.text);
  find("notes").prepend(item);
  if (find("notes").children.length > limit) find("notes").lastChild.remove();
}

/// Says what was lost since the page was opened. After some losses nobody knows how many notes they were.
const losses = { known: 0, isUnknown: false };
function showLoss({ lost }) {
  losses.known += lost ?? 0;
  losses.isUnknown ||= lost === null;
  const known = losses.known > 0 ? [`${losses.known} notes were lost.`] : [];
  const unknown = losses.isUnknown ? ["Notes may be missing, nobody knows how many."] : [];
  find("lost").textContent = [...known, ...unknown].join(" ");
  find("lost").className = "some";
}

/// Says whether the page is up to date, and while it is not, since when.
function followState(center) {
  let awaySince = null;
  center.addEventListener("state", ({ detail: { state } }) => {
    if (state === "open") {
      const away = awaySince && `, after ${Math.ceil((Date.now() - awaySince) / 1000)} s away`;
      find("state").textContent = `Live since ${clock(Date.now())}${away ?? ""}`;
      awaySince = null;
    } else {
      awaySince ??= Date.now();
      find("state").textContent = `Away since ${clock(awaySince)}: these are the figures of then.`;
    }
    document.body.classList.toggle("away", state !== "open");
  });
}

try {
  const { NotificationCenter } = await import(new URL("/belfry.js", broker));
  const center = new NotificationCenter(broker, { resume: true, storage: sessionStorage });
  followState(center);
  // A page that comes back is told its gaps before it has added its observers, so the center is listened to.
  center.addEventListener("belfry.gap", ({ detail }) => showLoss(detail));
  // Both at once: the center opens when they are at the broker, so that "Live" is true.
  const terms = { suspensionBehavior: "hold", holdLimit: limit };
  await Promise.all([
    center.addObserver({ object: "shop", keyPath: "" }, showFigures),
    center.addObserver({ name: "ShopNote", ...terms }, showNote),
  ]);
} catch (error) {
  find("state").textContent = `No broker at ${broker}: ${error.message}`;
}
