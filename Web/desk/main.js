// The start of the desk: the form or the questions, and what is told to the ear.

import { show } from "../console/tree.js";
import { plural } from "../console/words.js";
import { prepareSound, ring } from "./alerts.js";
import { Desk } from "./desk.js";
import { door } from "./door.js";
import { keepSettings, readSettings } from "./settings.js";
import { page } from "./view.js";

const app = {
  settings: readSettings(),
  desk: null,
  fault: null,
  begin,
  leave: () => refuse(null),
  changed: paint,
  hold,
  setLoud(isLoud) {
    app.settings.isLoud = isLoud;
    keepSettings(app.settings);
    if (!isLoud) return;
    prepareSound();
    ring();
  },
};

/// Opens the desk; where the broker refuses, the form is there again.
async function begin(settings) {
  Object.assign(app, { settings, fault: null });
  keepSettings(settings);
  const desk = new Desk(settings, {
    changed: paint,
    asked({ title }) {
      say(`New question: ${title}`);
      if (settings.isLoud) ring();
    },
  });
  app.desk = desk;
  paint();
  await hold();
}

async function hold() {
  const { desk } = app;
  try {
    await desk.hold();
  } catch (error) {
    // The reader may have left it meanwhile.
    if (desk === app.desk) refuse(error);
  }
}

function refuse(error) {
  const { desk } = app;
  Object.assign(app, { desk: null, fault: error });
  paint();
  desk.leave();
}

function paint() {
  const { desk } = app;
  if (desk?.state === "closed" && desk.fault.problem?.status === 401) return refuse(desk.fault);
  show(document.getElementById("page"), desk === null ? door(app) : page(app));
  const count = desk?.asks.size ?? 0;
  document.title = count === 0 ? "Desk" : `${plural(count, "question")} – Desk`;
}

function say(text) {
  document.getElementById("spoken").textContent = text;
}

addEventListener("pointerdown", () => {
  if (app.settings.isLoud) prepareSound();
});
document.addEventListener("visibilitychange", paint);
setInterval(() => {
  if (!document.hidden) paint();
}, 1000);
// The desk does as well without it: an insecure origin has none, and a browser may refuse it.
navigator.serviceWorker?.register("desk-worker.js", { scope: "desk" }).catch(() => {});

const { addresses, selectors } = app.settings;
if (addresses.length > 0 && selectors.length > 0) begin(app.settings);
else paint();
