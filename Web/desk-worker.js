// The service worker of the desk: it says that there is no connection, in place of the browser's
// own error. It keeps nothing, because an ask of yesterday must not look like one of today.

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Desk: no connection</title>
<main>
<h1>No connection</h1>
<p>The desk cannot reach its broker, so it shows no questions.</p>
<p><a href="">Try again</a></p>
</main>`;

addEventListener("fetch", (event) => {
  if (event.request.mode !== "navigate") return;
  event.respondWith(fetch(event.request).catch(() => new Response(page, {
    status: 503,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": "default-src 'none'",
    },
  })));
});
