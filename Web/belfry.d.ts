// The types of belfry.js. What each part does stands there, and in Documentation/BelfryJS.md.

/** Any JSON. */
export type JSONValue = string | number | boolean | null | JSONValue[] | JSONObject;
export interface JSONObject {
  [key: string]: JSONValue | undefined;
}

/** The problem document of a refusal (RFC 9457). */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail?: string;
  errors?: { pointer?: string; parameter?: string; header?: string; detail: string }[];
  [member: string]: unknown;
}

/** What the broker refused, or why a call has no answer. */
export class BelfryError extends Error {
  constructor(text: string, code?: number | null, problem?: Problem | null, reason?: Reason);
  /** That of JSON-RPC; null when there was no answer. */
  readonly code: number | null;
  readonly problem: Problem | null;
  readonly reason: Reason;
  /** What tells the problem apart, such as `no-responder`. */
  readonly slug: string | null;
  /** Seconds until another attempt that an answer over HTTP asked for. */
  readonly retryAfter: number | null;
}
export type Reason = "refused" | "misuse" | "lost" | "timeout" | "closed";

/** How long a call may take, in seconds, and what gives it up. */
export interface Limits {
  timeout?: number;
  signal?: AbortSignal;
}

export interface Notification<UserInfo = JSONObject> {
  id: string;
  /** Its place in the order of its center. */
  seq: number;
  name: string;
  object?: string;
  userInfo?: UserInfo;
  postedAt: string;
  causedBy?: string;
  redelivered?: true;
}

/** A change of a value; `value` is what is there then. */
export interface ValueNotification<Value = JSONValue> extends Notification<never> {
  keyPath?: string;
  change: Change;
  value: Value | undefined;
}
export interface Change {
  kind: "set" | "merge" | "removed";
  initial?: true;
  new?: JSONValue;
  old?: JSONValue;
}

/** What an observer lost. */
export interface Gap {
  observer: string | null;
  /** How many; null where nobody knows. */
  lost: number | null;
  firstSeq?: number;
  lastSeq?: number;
  reason: "dropped" | "coalesced" | "overflow" | "expired" | "unknown";
  token: Observer | null;
}

/** Somebody else removed an observer. */
export interface Removed {
  observer: string;
  reason: string;
  removedBy?: string;
  problem?: Problem;
  token: Observer | null;
}

export type SuspensionBehavior = "drop" | "coalesce" | "hold" | "deliverImmediately";

/** What an observer is told by. */
export interface ObserverOptions extends Limits {
  object?: string | null;
  selector?: string | null;
  suspensionBehavior?: SuspensionBehavior;
  holdLimit?: number;
  minInterval?: number;
  lease?: number | null;
  onGap?: ((gap: Gap) => void) | null;
}
/** A condition on the userInfo: what the values at its key paths must be. */
export interface Condition {
  [keyPath: string]: Test;
}
export type Scalar = string | number | boolean | null;
export type Test = Scalar | Scalar[] | Comparison | { not: Scalar | Scalar[] | Comparison };
/** What all must hold for a value. */
export interface Comparison {
  exists?: boolean;
  above?: number;
  atLeast?: number;
  below?: number;
  atMost?: number;
  prefix?: string;
  suffix?: string;
  contains?: string | number | boolean;
}
export interface NotificationFilter extends ObserverOptions {
  /** At most one of `name`, `names` and `namePrefix`; and of `object` and `objectPrefix`. */
  name?: string | null;
  names?: string[] | null;
  namePrefix?: string | null;
  objectPrefix?: string | null;
  /** A condition, or several of which one must hold. */
  where?: Condition | Condition[] | null;
  acknowledge?: boolean;
  /** Where it begins: a number, a time (RFC 3339) or "oldest"; at most one of these three. */
  since?: number | string | null;
  /** With the newest so many, 1 to 1,000; or with those of each name and object, 1 to 100. */
  last?: number | null;
  lastEach?: number | null;
  target?: string | null;
}
export interface ValueFilter extends ObserverOptions {
  object: string;
  /** Keys joined by points; "" is the whole. */
  keyPath: string;
  initial?: boolean;
  old?: boolean;
  /** false: without the changes that this center writes. */
  own?: boolean;
}

/** One registration; without a handler it is an async sequence, of which leaving removes it. */
export interface Observer<Told = Notification> extends AsyncIterable<Told> {
  readonly name: string | null;
  readonly object: string | null;
  readonly target: string | null;
  readonly keyPath: string | null;
  readonly selector: string;
  readonly id: string;
  /** The secret that removes it from anywhere. */
  readonly token: string | null;
  readonly isRemoved: boolean;
  remove(): Promise<void>;
}

export interface RowOfReceipt {
  id: string;
  outcome:
    | "delivered" | "held" | "coalesced" | "dropped" | "acknowledged" | "refused" | "pending"
    | "disconnected" | "unhandled";
  result?: JSONValue;
  resultOmitted?: true;
  error?: { code: number; message: string };
  target?: string;
  observer?: string;
  path?: string[];
  /** The way goes on to addresses that no grant covers. */
  partial?: true;
  reason?: string;
}

/** What became of a post. A post that waits in the queue has `outcome`, and no counts. */
export interface Receipt {
  id: string;
  seq?: number;
  matched?: number;
  delivered?: number;
  held?: number;
  coalesced?: number;
  dropped?: number;
  acknowledged?: number;
  refused?: number;
  pending?: number;
  dequeued?: number;
  /** An archive keeps it. */
  kept?: true;
  observers?: RowOfReceipt[];
  outcome?: "queued" | "coalesced";
  into?: string;
  dueAt?: string;
}

export interface PostOptions extends Limits {
  object?: string | null;
  userInfo?: object | null;
  style?: "now" | "asap" | "idle" | null;
  coalesce?: ("name" | "sender")[] | "none" | null;
  keep?: "first" | "latest" | null;
  modes?: string[] | null;
  maxDelay?: number | null;
  immediate?: boolean;
  ttl?: number | null;
  causedBy?: string | null;
  wait?: number | null;
  report?: "observers" | null;
  idempotencyKey?: string | null;
  after?: number | null;
  at?: Date | string | null;
  every?: number | null;
  /** null is for ever. */
  lease?: number | null;
  replaces?: boolean;
  onDisconnect?: boolean;
}

/** An ask, an action or a post that a responder is given. */
export interface Ask<UserInfo = JSONObject> extends Notification<UserInfo> {
  selector: string;
  /** The address whose turn it is. */
  target?: string;
  answerBy?: string;
  /** What a page shows to a person who answers. */
  present?: Presentation;
  /** Aborts when nobody waits for the answer any more; null where nobody ever did. */
  signal: AbortSignal | null;
  /** What a handler returns to hand the ask on. */
  pass(): HandlerResponse;
  /** What a handler returns to answer with a reason. */
  answer(value?: unknown, options?: { reason?: string }): HandlerResponse;
}
/** What a handler returns in the place of an answer. */
export interface HandlerResponse {
  [response: symbol]: object;
}
export interface Presentation {
  title?: string;
  message?: string;
  /** 1 to 8 of them. */
  choices?: { label: string; value: JSONValue }[];
}
export type Handlers = {
  [selector: string]: (userInfo: any, ask: Ask) => unknown;
};
export interface ResponderOptions extends Limits {
  next?: string | null;
  ifHeld?: "replace" | "refuse" | "share";
  concurrency?: number;
  suspensionBehavior?: SuspensionBehavior;
  holdLimit?: number;
  lease?: number | null;
  onGap?: ((gap: Gap) => void) | null;
}

export interface AskOptions extends Limits {
  default?: JSONValue;
  /** Seconds; an ask that waits for more than 15 is stored. */
  wait?: number | null;
  ttl?: number | null;
  once?: boolean | null;
  present?: Presentation | null;
  ifNobody?: "refuse" | "wait" | null;
  /** Whatever is no answer of a responder is the default. */
  failClosed?: boolean;
  /** It goes on when nobody waits for it any more. */
  keep?: boolean;
  causedBy?: string | null;
  idempotencyKey?: string | null;
}
export interface Answer<Value = JSONValue> {
  id: string;
  answer: Value;
  by: "responder" | "default" | "asker";
  /** The principal of who answered; null for an anonymous one. */
  answeredBy?: string | null;
  observer?: string;
  reason?: string;
  path?: string[];
  /** The way goes on to addresses that no grant covers. */
  partial?: true;
  /** `asked`, where it is answered later. */
  outcome?: "asked";
}

export interface WriteOptions extends Limits {
  ifMatch?: string | null;
  ifNoneMatch?: string | null;
}
export interface SetOptions extends WriteOptions {
  ttl?: number | null;
  /** Seconds that it stays after this client has gone. */
  lease?: number | null;
}
export interface Written extends Receipt {
  changed: boolean;
  /** Absent where nothing is, and for those who may not read. */
  etag?: string;
}
export interface FoundValue<Value = JSONValue> {
  value: Value;
  etag: string;
  seq: number;
}

/** A channel, or all whose names begin alike: one of them. */
export interface ArchivePlace {
  name?: string;
  namePrefix?: string;
}
export interface ArchiveTerms extends ArchivePlace {
  /** Notifications of each channel or, with `each: "object"`, of each channel and object. */
  count?: number | null;
  /** Bytes of the whole archive. */
  bytes?: number | null;
  /** Seconds since a notification was posted. */
  age?: number | null;
  each?: "name" | "object" | null;
  /** The newest of each that stay in spite of `age`. */
  keepLast?: number | null;
  /** false: in memory alone. */
  stored?: boolean | null;
}
export interface Archive extends ArchivePlace {
  count?: number;
  bytes: number;
  age?: number;
  each: "name" | "object";
  keepLast: number;
  stored: boolean;
  /** The last number before it began. */
  since: number;
  /** What it keeps, but in the answer of `putArchive`. */
  kept?: number;
  keptBytes?: number;
  firstSeq?: number;
  lastSeq?: number;
}
/** What is removed, of a channel or of all whose names begin alike. */
export interface RemovalChoice extends ArchivePlace {
  object?: string | null;
  objectPrefix?: string | null;
  after?: number | null;
  before?: number | null;
  id?: string | null;
}
/** What is read of the past. */
export interface PastChoice extends Omit<RemovalChoice, "id"> {
  where?: Condition | Condition[] | null;
  /** Times (RFC 3339): from this one on, and before that one. */
  from?: string | null;
  until?: string | null;
  order?: "oldest" | "newest" | null;
  /** Notifications of a page, 1 to 1,000. */
  limit?: number | null;
  /** In the place of pages: the newest so many, or those of each name and object. */
  last?: number | null;
  lastEach?: number | null;
}
export interface Page<UserInfo = JSONObject> {
  notifications: Notification<UserInfo>[];
  /** What is lost behind `after`: at most one. */
  gaps: Pick<Gap, "reason" | "firstSeq" | "lastSeq">[];
  /** The `after` of the next page, or its `before`; null on the last one. */
  next: number | null;
  /** With `last` or `lastEach`: it has no room for all of them. */
  partial?: true;
  /** The number from which an observer goes on without a hole (`since`). */
  seq: number;
  epoch: string;
}

export interface Mode {
  id: string;
  token: string;
  mode: string;
}

export interface Explanation {
  /** `where` is a condition that a userInfo would decide. */
  observers?: { id: string; state: string; outcome: string; where?: true }[];
  near?: { id: string; reason: string }[];
  ask?: JSONObject;
  partial?: true;
}

export type State = "connecting" | "open" | "waiting" | "closed";
export type Transport = "websocket" | "events" | "shared";

export interface StateDetail {
  state: State;
  code?: number | null;
  /** Seconds until the next attempt. */
  delay?: number;
  error?: Error | null;
}
export interface CenterEvents {
  state: CustomEvent<StateDetail>;
  "belfry.gap": CustomEvent<Gap>;
  "belfry.removed": CustomEvent<Removed>;
}

export interface CenterOptions {
  center?: string | null;
  /** Observers outlive a lost connection at the broker. */
  resume?: boolean;
  /** With `resume`: where sessions outlive the page. */
  storage?: Pick<Storage, "getItem" | "setItem" | "removeItem"> | null;
  token?: string | (() => string | null | Promise<string | null>) | null;
  /** Seconds that a call may take; 15 by default. */
  timeout?: number;
  suspendWhenHidden?: boolean;
  /** One connection for all pages of an origin. */
  shared?: boolean;
  transport?: "websocket" | "events" | null;
  /** The class to use in place of the global one. */
  WebSocket?: new (url: string, protocols: string[]) => object;
}

/** An element that shows a value, and sets it. */
export interface Binding {
  readonly element: Element;
  readonly object: string;
  readonly keyPath: string;
  remove(): Promise<void>;
}

/** A center of the broker, over a connection that comes back by itself. */
export class NotificationCenter extends EventTarget {
  constructor(url?: string | URL, options?: CenterOptions);
  readonly state: State;
  readonly transport: Transport | null;

  addObserver<Value = JSONValue>(
    filter: ValueFilter,
    handler?: ((
      value: Value | undefined, change: Change, notification: ValueNotification<Value>,
    ) => void) | null,
  ): Promise<Observer<ValueNotification<Value>>>;
  addObserver<UserInfo = JSONObject>(
    filter?: string | NotificationFilter,
    /** With `acknowledge` its promise is the answer. */
    handler?: ((notification: Notification<UserInfo>) => unknown) | null,
  ): Promise<Observer<Notification<UserInfo>>>;

  post(name: string, options?: PostOptions): Promise<Receipt>;
  explain(
    filter?: { name?: string; object?: string; selector?: string; userInfo?: object } & Limits,
  ): Promise<Explanation>;

  respond(object: string, handlers: Handlers, options?: ResponderOptions): Promise<Observer<Ask>>;
  ask<Value = JSONValue>(
    object: string, selector: string, userInfo?: object | null, options?: AskOptions,
  ): Promise<Answer<Value>>;
  fate<Value = JSONValue>(
    id: string, options?: Limits & { wait?: number },
  ): Promise<Answer<Value>>;
  withdraw(ask: { id: string }, limits?: Limits): Promise<void>;
  work(
    object: string, selector: string, handler: (userInfo: any, ask: Ask) => unknown,
    options?: ResponderOptions,
  ): Promise<Observer<Ask>>;

  value<Value = JSONValue>(
    object: string, keyPath?: string, limits?: Limits,
  ): Promise<FoundValue<Value> | null>;
  setValue(
    object: string, keyPath: string, value: unknown, options?: SetOptions,
  ): Promise<Written>;
  mergeValue(
    object: string, keyPath: string, patch: object, options?: WriteOptions,
  ): Promise<Written>;
  removeValue(object: string, keyPath?: string, options?: WriteOptions): Promise<Written>;
  bind(
    element: Element, object: string, keyPath?: string,
    options?: Omit<ValueFilter, "object" | "keyPath"> & { onError?: (error: unknown) => void },
  ): Promise<Binding>;

  putArchive(terms: ArchiveTerms & Limits): Promise<Archive>;
  archive(place: ArchivePlace & Limits): Promise<Archive | null>;
  archives(limits?: Limits): Promise<Archive[]>;
  removeArchive(place: ArchivePlace & Limits): Promise<void>;
  past<UserInfo = JSONObject>(choice: PastChoice & Limits): Promise<Page<UserInfo>>;
  history<UserInfo = JSONObject>(
    choice: PastChoice & Limits,
  ): AsyncGenerator<Notification<UserInfo>, void, undefined>;
  removeNotifications(choice: RemovalChoice & Limits): Promise<number>;

  setSuspended(isSuspended: boolean, limits?: Limits): Promise<void>;
  dequeue(
    filter?: Limits & {
      id?: string; name?: string; object?: string; coalesce?: ("name" | "sender")[];
    },
  ): Promise<number>;
  enterMode(mode: string, limits?: Limits): Promise<Mode>;
  leaveMode(lease: { token: string }, limits?: Limits): Promise<void>;
  close(): void;

  addEventListener<Type extends keyof CenterEvents>(
    type: Type, listener: (event: CenterEvents[Type]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string, listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

/** A ticket for one `EventSource`, which can send no token. */
export function requestTicket(url: string | URL, token: string): Promise<string>;
