// Which view is opened by which address.

import { openArchives } from "./archives.js";
import { openAsk } from "./asking.js";
import { openChannel, openChannels } from "./channels.js";
import { openClient, openClients } from "./clients.js";
import { openMe, openUnknown } from "./door.js";
import { openExplain } from "./explain.js";
import { openHelp } from "./help.js";
import { openHistory } from "./history.js";
import { openObserver } from "./observer.js";
import { openForgotten, openObservers } from "./observers.js";
import { openOverview } from "./overview.js";
import { openPost } from "./post.js";
import { openQueue } from "./queue.js";
import { openResponders } from "./responders.js";
import { openTail } from "./tailview.js";
import { openTimers } from "./timers.js";
import { openUnheard } from "./unheard.js";
import { openValue, openValues } from "./values.js";

const views = {
  overview: openOverview,
  tail: openTail,
  channels: openChannels,
  channel: openChannel,
  unheard: openUnheard,
  observers: openObservers,
  observer: openObserver,
  forgotten: openForgotten,
  clients: openClients,
  client: openClient,
  queue: openQueue,
  timers: openTimers,
  responders: openResponders,
  values: openValues,
  value: openValue,
  archives: openArchives,
  history: openHistory,
  explain: openExplain,
  post: openPost,
  ask: openAsk,
  me: openMe,
  help: openHelp,
};

/// Views of one thing, which the address names.
const viewsOfOne = new Set(["channel", "observer", "client", "value"]);

/// Opens the view of an address, or says that there is none.
export function openView(route, app) {
  const isKnown = Object.hasOwn(views, route.view) && (route.id ?? "") !== "";
  const isWhole = Object.hasOwn(views, route.view) && !viewsOfOne.has(route.view);
  return (isKnown || isWhole ? views[route.view] : openUnknown)(app, route);
}
