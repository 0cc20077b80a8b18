// The page of who approves: it holds the address "deploy" and answers "shouldStart" with yes or no.
//
// The responder outlives a connection and the page (`resume`, `storage`), and holds what it is asked meanwhile: a page
// that is loaded again finds the same questions. The page that was opened last has the address.

const query = new URLSearchParams(location.search);
const broker = query.get("broker") ?? `${location.protocol}//${location.hostname}:8080`;

const find = (id) => document.getElementById(id);

function button(text, action) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.className = text.toLowerCase();
  made.addEventListener("click", action);
  return made;
}

/// Shows a question until it is answered here, or somebody else has answered it, or its time is over.
function decide({ sha }, ask) {
  const item = document.createElement("li");
  const text = document.createElement("span");
  const until = new Date(ask.answerBy).toLocaleTimeString();
  text.textContent = `Start the deployment of ${sha}? Until ${until}.`;
  find("questions").append(item);
  return new Promise((resolve) => {
    const answer = (isAllowed) => {
      item.remove();
      resolve(isAllowed);
    };
    item.append(text, button("Yes", () => answer(true)), button("No", () => answer(false)));
    ask.signal.addEventListener("abort", () => answer(false));
  });
}

try {
  const { NotificationCenter } = await import(new URL("/belfry.js", broker));
  const center = new NotificationCenter(broker, { resume: true, storage: sessionStorage });

  const take = async () => {
    await center.respond(
      "deploy", { shouldStart: decide }, { suspensionBehavior: "hold", lease: 60 });
    find("state").textContent = `You decide, at ${broker}`;
    find("take").hidden = true;
  };
  center.addEventListener("belfry.removed", ({ detail }) => {
    find("state").textContent =
      detail.reason === "replaced" ? "Somebody else decides now." : "You decide no more.";
    find("take").hidden = false;
  });
  find("take").addEventListener("click", take);
  await take();
} catch (error) {
  find("state").textContent = `No broker at ${broker}: ${error.message}`;
}
