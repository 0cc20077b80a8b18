// The calculator's page: it posts the keys that are pressed and shows what others post.
//
// It knows the center and three names of notifications, and neither of the two models.

const query = new URLSearchParams(location.search);
const broker = query.get("broker") ?? `${location.protocol}//${location.hostname}:8080`;

/// The keys in their places, with what a screen reader calls those that are signs.
const keys = [..."789/456*123-R0=+"];
const spoken = {
  "+": "plus", "-": "minus", "*": "times", "/": "divided by", "=": "equals", R: "reset",
};
const printed = { "-": "−", "*": "×", "/": "÷" };
const fromKeyboard = { Enter: "=", Escape: "R", r: "R" };

const find = (id) => document.getElementById(id);
const state = find("state");

try {
  const { NotificationCenter } = await import(new URL("/belfry.js", broker));
  const center = new NotificationCenter(broker);

  const press = (key) => center.post("BUTTONCHANGE", { object: key }).catch((error) => {
    state.textContent = `The key ${key} was not posted: ${error.message}`;
  });

  for (const key of keys) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = printed[key] ?? key;
    button.dataset.key = key;
    if (key in spoken) button.setAttribute("aria-label", spoken[key]);
    if (key === "=") button.className = "equals";
    else if (key in spoken) button.className = "operation";
    button.addEventListener("click", () => press(key));
    find("keypad").append(button);
  }

  addEventListener("keydown", (event) => {
    const key = fromKeyboard[event.key] ?? event.key;
    // Enter on a focused button is a press of that button already.
    const isButton = event.key === "Enter" && event.target instanceof HTMLButtonElement;
    if (!keys.includes(key) || isButton || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    press(key);
  });

  center.addEventListener("state", () => {
    state.textContent = center.state === "open" ? `Connected to ${broker}` : "Connecting…";
  });

  await Promise.all([
    center.addObserver({ name: "ACCUMULATORCHANGE" }, ({ object }) => {
      find("accumulator").textContent = object;
    }),
    center.addObserver({ name: "COUNTCHANGE" }, ({ object }) => {
      find("count").textContent = object;
    }),
  ]);
  state.textContent = `Connected to ${broker}`;
} catch (error) {
  state.textContent = `No broker at ${broker}: ${error.message}`;
}
