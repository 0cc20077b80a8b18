// The keys of the page. Single letters work only while no field has the focus, and can be turned
// off.

import { link } from "./route.js";

const place = "belfry keys";

export const lettersAreOn = () => {
  try {
    return localStorage.getItem(place) !== "off";
  } catch {
    return true;
  }
};

export function turnLetters(isOn) {
  try {
    localStorage.setItem(place, isOn ? "on" : "off");
  } catch {
    // Where nothing is kept the letters stay on.
  }
}

/// What `g` and a letter lead to.
export const ways = {
  o: ["overview", "Overview"],
  t: ["tail", "Live tail"],
  c: ["channels", "Channels"],
  b: ["observers", "Observers"],
  l: ["clients", "Clients"],
  q: ["queue", "Queue and modes"],
  e: ["explain", "Explain"],
  p: ["post", "Post"],
  r: ["responders", "Responders"],
  v: ["values", "Values"],
  i: ["timers", "Timers"],
  a: ["archives", "Archives"],
  h: ["history", "History"],
};

/// Milliseconds in which the second letter has to come.
const patience = 1500;

export function followKeys(app) {
  let wentAt = -Infinity;
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (key === "Escape") return back(app, event);
    if (isField(target) || !lettersAreOn() || app.wantsToken) return;
    if (event.timeStamp - wentAt < patience && key in ways) {
      event.preventDefault();
      wentAt = -Infinity;
      return app.go(link(ways[key][0]));
    }
    wentAt = -Infinity;
    switch (key) {
      case "g":
        wentAt = event.timeStamp;
        break;
      case "/":
        event.preventDefault();
        document.getElementById("q").focus();
        break;
      case "?":
        app.go(link("help"));
        break;
      case "p":
        app.view.pause ? app.view.pause() : app.pause();
        break;
      case "j":
        move(event, 1);
        break;
      case "k":
        move(event, -1);
        break;
      case " ":
        if (app.view.pause && !target.closest("button, a, summary")) {
          event.preventDefault();
          app.view.pause();
        }
    }
  });
}

const isField = (node) => node.matches("input, select, textarea, [contenteditable]");

/// The links and buttons that stand for the rows of the view.
const rows = () =>
  [...document.querySelectorAll("main tbody tr")]
    .map((row) => row.querySelector("th a, th button"))
    .filter((one) => one !== null);

function move(event, step) {
  const all = rows();
  if (all.length === 0) return;
  event.preventDefault();
  const here = all.findIndex((one) => one.closest("tr").contains(document.activeElement));
  all[Math.min(Math.max(here + step, 0), all.length - 1)].focus();
}

/// From one thing back to its list, whose row has the focus again.
function back(app, event) {
  if (isField(event.target)) return event.target.blur();
  const crumb = document.querySelector("main .crumb a");
  if (crumb === null) return;
  const { id } = app.route;
  app.go(crumb.getAttribute("href"));
  app.focusWhenShown = (main) =>
    [...main.querySelectorAll("tbody th a")].find((one) => one.textContent === id) ?? null;
}
