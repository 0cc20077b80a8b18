// A wall of builds. All that it shows is the value of the object "builds", which the script `build` sets:
//
//   {"site": {"state": "running", "began": 1763990000, "alive": true},
//    "app": {"state": "failed", "began": 1763990000, "seconds": 4, "code": 1}}

const query = new URLSearchParams(location.search);
const broker = query.get("broker") ?? `${location.protocol}//${location.hostname}:8080`;

const find = (id) => document.getElementById(id);
const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString();

/// The class and the words for a build. Who runs says so; where nobody does any more, nobody will tell the end.
function told({ state, began, seconds, code, alive }) {
  if (state === "passed") return ["passed", "Passed", `${clock(began)}, took ${seconds} s`];
  if (state === "failed") return ["failed", "Failed", `${clock(began)}, exit code ${code} after ${seconds} s`];
  if (alive) return ["running", "Running", `since ${clock(began)}`];
  return ["lost", "Broke off", `began at ${clock(began)}, and says nothing any more`];
}

function card([project, build]) {
  const [kind, title, detail] = told(build);
  const item = document.createElement("li");
  item.className = kind;
  for (const [element, text] of [["h2", project], ["p", title], ["p", detail]]) {
    item.append(Object.assign(document.createElement(element), { textContent: text }));
  }
  return item;
}

try {
  const { NotificationCenter } = await import(new URL("/belfry.js", broker));
  const center = new NotificationCenter(broker);
  const tell = () => {
    find("state").textContent =
      center.state === "open" ? "Live" : "No connection: this is how it was. It comes back by itself.";
  };
  await center.addObserver({ object: "builds", keyPath: "" }, (builds = {}) => {
    const entries = Object.entries(builds).sort(([one], [other]) => one.localeCompare(other));
    find("none").hidden = entries.length > 0;
    find("builds").replaceChildren(...entries.map(card));
  });
  await center.addObserver("BuildDidEnd", ({ object, userInfo }) => {
    find("last").textContent = `${object} has ${userInfo.state} at ${clock(userInfo.began + userInfo.seconds)}.`;
  });
  center.addEventListener("state", tell);
  tell();
} catch (error) {
  find("state").textContent = `No broker at ${broker}: ${error.message}`;
}
