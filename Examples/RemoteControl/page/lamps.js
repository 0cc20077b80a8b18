// The page with the lamps. Each place holds its own address, lists what it can do, and names the place around it: what a
// lamp cannot do the room may, then the floor, then the house.

const query = new URLSearchParams(location.search);
const broker = query.get("broker") ?? `${location.protocol}//${location.hostname}:8080`;

const find = (selector) => document.querySelector(selector);
const lamps = ["lamp-1", "lamp-2"];

const lightOf = (lamp) => find(`#${lamp} .light`);

function light(lamp, state) {
  const element = lightOf(lamp);
  element.dataset.light = state;
  element.textContent = state;
}

/// What each place can do, and which one is around it.
const places = {
  "lamp-1": { next: "room", actions: { toggle: () => toggle("lamp-1") } },
  "lamp-2": { next: "room", actions: { toggle: () => toggle("lamp-2") } },
  room: { next: "floor", actions: { dim: () => lightAll("dim") } },
  floor: { next: "house", actions: { off: () => lightAll("off") } },
  house: { next: null, actions: { goodNight: () => lightAll("off") } },
};

function toggle(lamp) {
  light(lamp, lightOf(lamp).textContent === "off" ? "on" : "off");
}

function lightAll(state) {
  for (const lamp of lamps) light(lamp, state);
}

/// The same actions, which also say who has caused them.
function told(place, actions) {
  const entries = Object.entries(actions).map(([selector, act]) => [selector, (userInfo, ask) => {
    act();
    find(`#${place} > .did`).textContent = `${selector}, by ${ask.object}`;
  }]);
  return Object.fromEntries(entries);
}

try {
  const { NotificationCenter } = await import(new URL("/belfry.js", broker));
  const center = new NotificationCenter(broker);
  for (const [place, { next, actions }] of Object.entries(places)) {
    await center.respond(place, told(place, actions), next === null ? {} : { next });
  }
  find("#state").textContent = `Lit by ${broker}`;
} catch (error) {
  find("#state").textContent = `No broker at ${broker}: ${error.message}`;
}
