// A page that shares one value, that of the object "slider", with all windows that show it:
//
//   {"volume": 30, "title": "Evening", "who": {"KEY": {"name": "Ann"}, …}}
//
// The volume is bound to the range. Who is here is presence: each window sets an entry with a lease, which the broker
// removes when the window has gone. The title is saved with If-Match, so that nobody overwrites what he has not seen.

const query = new URLSearchParams(location.search);
const broker = query.get("broker") ?? `${location.protocol}//${location.hostname}:8080`;
const object = "slider";

/// Seconds that a window stays in the list after its connection was lost.
const lease = 2;

const find = (id) => document.getElementById(id);

/// The range, and the number beside it, which shows also what this window sets.
async function shareVolume(center) {
  await center.bind(find("volume"), object, "volume");
  await center.addObserver({ object, keyPath: "volume" }, (volume = "not set") => {
    find("shown").value = volume;
  });
}

/// The list of who is here, with this window in it.
async function sharePresence(center) {
  const key = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
  find("name").value = `Window ${key.slice(-3)}`;
  const enter = () =>
    center.setValue(object, `who.${key}`, { name: find("name").value }, { lease });
  find("name").addEventListener("input", enter);
  // Another connection is another client, whose entry this is from then on.
  center.addEventListener("state", () => center.state === "open" && enter());
  await center.addObserver({ object, keyPath: "who" }, (who = {}) => {
    find("who").replaceChildren(...Object.entries(who).map(([entry, { name }]) => {
      const item = document.createElement("li");
      item.textContent = entry === key ? `${name} (this window)` : name;
      return item;
    }));
  });
  await enter();
}

/// The title, of which each change is a change of what was seen.
async function shareTitle(center) {
  /// The value that the text began with, or null for none.
  let seen = null;
  let isEdited = false;

  const look = async () => {
    if (isEdited) return;
    seen = await center.value(object, "title");
    if (!isEdited) find("title").value = seen?.value ?? "";
  };
  const save = async () => {
    find("conflict").hidden = true;
    const condition = seen === null ? { ifNoneMatch: "*" } : { ifMatch: seen.etag };
    try {
      const { etag } = await center.setValue(object, "title", find("title").value, condition);
      seen = { value: find("title").value, etag };
      isEdited = false;
      find("saved").textContent = "Saved.";
    } catch (error) {
      if (error.problem?.status !== 412) throw error;
      seen = await center.value(object, "title");
      find("saved").textContent = "";
      find("theirs").textContent = seen?.value ?? "";
      find("conflict").hidden = false;
    }
  };

  find("title").addEventListener("input", () => {
    isEdited = true;
    find("saved").textContent = "";
  });
  find("edit").addEventListener("submit", (event) => {
    event.preventDefault();
    save();
  });
  // What they wrote has been seen now.
  find("keep").addEventListener("click", save);
  find("take").addEventListener("click", () => {
    find("conflict").hidden = true;
    isEdited = false;
    look();
  });
  await center.addObserver({ object, keyPath: "title" }, look);
}

try {
  const { NotificationCenter } = await import(new URL("/belfry.js", broker));
  const center = new NotificationCenter(broker);
  const tell = () => {
    find("state").textContent =
      center.state === "open" ? `Shared, at ${broker}` : "No connection. It comes back by itself.";
  };
  await shareVolume(center);
  await sharePresence(center);
  await shareTitle(center);
  center.addEventListener("state", tell);
  tell();
} catch (error) {
  find("state").textContent = `No broker at ${broker}: ${error.message}`;
}
