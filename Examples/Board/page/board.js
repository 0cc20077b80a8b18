// A departure board. Each change is a notification: its object is the flight, its name says what changed. An archive keeps
// the newest of each name and object, so a page that opens late has the whole board at once (`lastEach`).

const query = new URLSearchParams(location.search);
const broker = query.get("broker") ?? `${location.protocol}//${location.hostname}:8080`;

const find = (id) => document.getElementById(id);

/// The last known `{ gate, status }` of each flight.
const flights = new Map();

function show() {
  const sorted = [...flights].sort(([one], [other]) => one.localeCompare(other));
  find("flights").replaceChildren(...sorted.map(([flight, { gate = "", status = "" }]) => {
    const row = document.createElement("tr");
    for (const [kind, textContent] of [["th", flight], ["td", gate], ["td", status]]) {
      row.append(Object.assign(document.createElement(kind), { textContent }));
    }
    row.firstChild.scope = "row";
    return row;
  }));
}

/// Observes the board: as it is now, or behind the last event that was seen.
function observe(last = null) {
  const where = last === null ? { lastEach: 1 } : { last_event_id: last };
  const parameters = new URLSearchParams({ namePrefix: "Board.", ...where });
  const stream = new EventSource(`${broker}/v1/events?${parameters}`);
  stream.onopen = () => { find("state").textContent = `Live, at ${broker}`; };
  stream.onmessage = ({ data, lastEventId }) => {
    last = lastEventId;
    const { object, userInfo } = JSON.parse(data);
    flights.set(object, { ...flights.get(object), ...userInfo });
    show();
  };
  // The archive let something go before it came here: the board as it is now has all that counts.
  stream.addEventListener("belfry.gap", () => {
    stream.close();
    observe();
  });
  stream.onerror = () => {
    find("state").textContent = "Away. The board shows what was known.";
    // A browser comes back by itself and sends the last id, unless the broker has refused it.
    if (stream.readyState === EventSource.CLOSED) setTimeout(() => observe(last), 1000);
  };
}

observe();
