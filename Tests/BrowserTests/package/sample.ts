// What programs write with the types of belfry.js: it is compiled strictly, and not run.

import { BelfryError, NotificationCenter, requestTicket } from "@belfry/client";

interface Order {
  total: number;
}

const center = new NotificationCenter("http://localhost:8080", {
  center: "shop", resume: true, storage: sessionStorage, timeout: 5,
  token: async () => (await fetch("/token")).text(),
});

center.addEventListener("state", ({ detail }) => console.log(detail.state, detail.error?.message));
center.addEventListener("belfry.gap", ({ detail: { lost, token } }) => console.log(lost, token?.name));
center.addEventListener("belfry.removed", ({ detail }) => console.log(detail.removedBy));

export async function observe(): Promise<number> {
  const orders = await center.addObserver<Order>("Order", ({ userInfo }) => userInfo?.total);
  await center.addObserver({ name: "Order", acknowledge: true, lease: null }, async () => {});
  await center.addObserver({ name: "touchUp", target: "lamp", selector: "toggle" });
  await center.addObserver({
    namePrefix: "Order.", objectPrefix: "shop-",
    where: { state: ["open", "late"], total: { atLeast: 100, below: 1000 }, note: { not: null } },
  });
  await center.addObserver({ name: "Order", since: "oldest" });
  await center.addObserver({ namePrefix: "Order.", lastEach: 1, onGap: null });
  await center.addObserver({
    names: ["Order", "Refund"], where: [{ vip: true }, { tags: { contains: "urgent" } }],
  });
  await center.addObserver({ object: "settings", keyPath: "ui", own: false }, (value, change) => {
    console.log(value, change.kind, change.old);
  });
  await orders.remove();
  for await (const { seq, userInfo } of await center.addObserver<Order>({ name: "Order" })) {
    if ((userInfo?.total ?? 0) > 7) return seq;
  }
  for await (const { value } of await center.addObserver({ object: "o", keyPath: "" })) {
    console.log(value);
  }
  return 0;
}

export async function post(signal: AbortSignal): Promise<void> {
  const order: Order = { total: 7 };
  const receipt = await center.post("Order", { userInfo: order, wait: 3, report: "observers", signal });
  for (const { outcome, error } of receipt.observers ?? []) console.log(outcome, error?.message);
  const { dueAt } = await center.post("Tea", { at: new Date(), every: 60, lease: null });
  console.log(dueAt, receipt.matched, (await center.explain({ name: "order", userInfo: order })).near);
  await center.respond("desk", {
    shouldStart: async ({ sha }: { sha: string }, ask) => ask.signal?.aborted ? ask.pass() : sha,
  }, { next: "team", ifHeld: "share" });
  const { answer } = await center.ask<boolean>("desk", "shouldStart", { sha: "4f" }, { default: false });
  await center.work("pages", "render", ({ page }: { page: number }, ask) =>
    ask.answer(page, { reason: ask.present?.title }), { concurrency: 2, lease: 60 });
  const { id, by, answeredBy } = await center.ask<boolean>("door", "mayOpen", null, {
    wait: 4 * 3600, keep: true, default: false, failClosed: true, ifNobody: "wait",
    present: { title: "Open?", choices: [{ label: "Yes", value: true }] },
  });
  const { outcome } = await center.fate<boolean>(id, { wait: 60 });
  console.log(by === "asker", answeredBy ?? outcome);
  console.log(answer === true);
}

export async function past(): Promise<number> {
  const { since } = await center.putArchive({ namePrefix: "Order", count: 1000, keepLast: 1, age: 3600 });
  const row = await center.archive({ namePrefix: "Order" });
  const { notifications, gaps, next } = await center.past<Order>({ name: "Order", after: since, limit: 10 });
  const [first] = notifications;
  console.log(row?.kept, first?.userInfo?.total, gaps[0]?.reason, next ?? "the last page");
  for await (const { userInfo } of center.history<Order>({ name: "Order", lastEach: 1 })) {
    if (userInfo) return userInfo.total;
  }
  await center.removeArchive({ name: (await center.archives())[0]?.name ?? "Order" });
  return center.removeNotifications({ namePrefix: "Order", before: 7 });
}

export async function values(input: HTMLInputElement): Promise<void> {
  const found = await center.value<string>("settings", "ui.theme");
  const { etag } = await center.setValue("settings", "ui.theme", found?.value.toUpperCase(), {
    ifMatch: found?.etag ?? null, timeout: 1,
  });
  await center.mergeValue("settings", "", { volume: null }, { ifMatch: etag });
  await (await center.bind(input, "settings", "volume", { onError: console.error })).remove();
  const lease = await center.enterMode("held");
  await center.leaveMode(lease);
  console.log(await center.dequeue({ name: "Order", coalesce: ["name"] }), center.transport);
  await requestTicket("http://localhost:8080", "token");
  center.close();
}

export function explain(error: unknown): string {
  if (!(error instanceof BelfryError)) return "something else";
  return error.reason === "refused" ? error.problem?.title ?? "" : error.message;
}

// @ts-expect-error a handler is a function
center.addObserver("Order", "notify:");
// @ts-expect-error there is no such option
center.post("Order", { userinfo: {} });
// @ts-expect-error there is no such state
console.log(center.state === "opening");
