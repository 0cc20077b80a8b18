// The page with the buttons: it posts "touchUp" with the button as the object, and knows nothing of lamps.
//
// What a button does is said by observers with a target, which anybody makes: the script `wire` does. The receipt
// tells where each action went.

const query = new URLSearchParams(location.search);
const broker = query.get("broker") ?? `${location.protocol}//${location.hostname}:8080`;

const find = (id) => document.getElementById(id);

/// What one observer of the button made of the press.
function words({ outcome, target, observer, reason, path = [target] }) {
  const way = path.join(", then ");
  if (outcome === "unhandled") return `Nobody takes it: ${way} (${reason.replaceAll("-", " ")}).`;
  return `${outcome} to ${observer}: ${way}.`;
}

function show(lines) {
  find("went").replaceChildren(...lines.map((line) => {
    const item = document.createElement("li");
    item.textContent = line;
    return item;
  }));
}

try {
  const { NotificationCenter } = await import(new URL("/belfry.js", broker));
  const center = new NotificationCenter(broker);
  const press = async (object) => {
    try {
      const { observers = [] } = await center.post("touchUp", { object, report: "observers" });
      const actions = observers.filter(({ target }) => target !== undefined);
      show(actions.length > 0 ? actions.map(words) : [`${object} is not wired.`]);
    } catch (error) {
      show([error.message]);
    }
  };
  for (const button of document.querySelectorAll("button")) {
    button.addEventListener("click", () => press(button.id));
  }
  center.addEventListener("state", ({ detail }) => {
    find("state").textContent = detail.state === "open" ? `Connected to ${broker}` : "Connecting…";
  });
} catch (error) {
  find("state").textContent = `No broker at ${broker}: ${error.message}`;
}
