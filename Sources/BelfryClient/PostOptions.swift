internal import BelfryJSON

/// When a notification is posted (Cocoa's `NSPostingStyle`); without one it is posted at once, past
/// the queue.
public enum PostingStyle: String, Sendable {
    /// At once, after similar ones were taken out of the queue.
    case now
    /// At the end of the broker's turn.
    case asap
    /// When the broker has nothing else to do.
    case idle
}

/// The properties by which two notifications are similar, so that the queue keeps one of them.
public struct Coalescing: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: Int

    /// Makes a set from its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Both have one name.
    public static let onName = Coalescing(rawValue: 1)
    /// Both have one object, or none.
    public static let onSender = Coalescing(rawValue: 2)

    func write(_ writer: inout JSONWriter, _ bytes: inout [UInt8]) {
        writer.key("coalesce", into: &bytes)
        guard !isEmpty else { return writer.string("none", into: &bytes) }
        writer.beginArray(into: &bytes)
        if contains(.onName) { writer.string("name", into: &bytes) }
        if contains(.onSender) { writer.string("sender", into: &bytes) }
        writer.endArray(into: &bytes)
    }
}

/// The options of a post; the broker has defaults for those that are nil.
public struct PostOptions: Equatable, Sendable {
    /// Which of several similar notifications the queue keeps.
    public enum Keep: String, Sendable {
        /// The one that waits already.
        case first
        /// The new one, in the place of the first.
        case latest
    }

    /// When it is posted; the default is at once, past the queue.
    public var style: PostingStyle?
    /// The properties that are compared with the queue; with a style the broker's default is both.
    public var coalescing: Coalescing?
    /// Which of similar ones the queue keeps; the broker's default is the first.
    ///
    /// Only the styles asap and idle can use it.
    public var keep: Keep?
    /// The modes in which it can leave the queue; empty is the mode `default` alone.
    public var modes: [String] = []
    /// How long an idle post waits at most until it counts as asap.
    public var maxDelay: Duration?
    /// Whether it is delivered in spite of suspension, which needs a grant.
    public var isImmediate = false
    /// How long a queued or held copy is kept.
    public var timeToLive: Duration?
    /// The delay before it enters the queue; with `onDisconnect` it begins at the disconnection.
    ///
    /// The range is 0 to 366 days. The notification then has the style asap, or idle.
    public var after: Duration?
    /// When it enters the queue: a time with its offset, as in `2026-11-22T06:00:00Z`.
    ///
    /// It does not go with `after`.
    public var at: String?
    /// The time between two firings, 0.1 s to 366 days, until its lease, or this client, ends.
    ///
    /// Without `after` and `at` the first firing is one period from now.
    public var every: Duration?
    /// How long it repeats; the broker's default is a day, and its limit 30 days.
    public var lease: ObserverOptions.Lease?
    /// Whether delayed posts with this name and object are removed first.
    ///
    /// Posts with `onDisconnect` stay.
    public var replaces = false
    /// Whether it is posted when this client has been disconnected for `after`.
    ///
    /// The cause does not matter, but `close()` does not count. With `ClientOptions.reconnects` a
    /// connection that is another client posts it again for that one. A client has 16 at most.
    public var onDisconnect = false
    /// The id of the notification whose handling posts this one.
    public var causedBy: String?
    /// How long the answer waits for acknowledging observers; zero does not wait.
    ///
    /// The range is 0 to 60 seconds; the broker's default is 5. It comes on top of
    /// `ClientOptions.requestTimeout`.
    public var wait: Duration?
    /// The time limit of the answer, in place of `ClientOptions.requestTimeout`.
    public var timeout: Duration?
    /// Whether the receipt has a row for each observer.
    public var reportsObservers = false
    /// A text of 1 to 255 visible ASCII characters: another post with it has no second effect.
    public var idempotencyKey: String?

    /// Makes options with the defaults: a plain post.
    public init() {}

    /// Writes the members of the notification itself.
    func write(_ writer: inout JSONWriter, _ bytes: inout [UInt8]) {
        if let causedBy { writer.member("causedBy", string: causedBy, into: &bytes) }
        if let style { writer.member("style", string: style.rawValue, into: &bytes) }
        coalescing?.write(&writer, &bytes)
        if let keep { writer.member("keep", string: keep.rawValue, into: &bytes) }
        if !modes.isEmpty {
            writer.key("modes", into: &bytes)
            writer.beginArray(into: &bytes)
            for mode in modes { writer.string(mode, into: &bytes) }
            writer.endArray(into: &bytes)
        }
        if let maxDelay { writer.member("maxDelay", seconds: maxDelay, into: &bytes) }
        if isImmediate { writer.member("immediate", bool: true, into: &bytes) }
        if let timeToLive { writer.member("ttl", seconds: timeToLive, into: &bytes) }
        writeTimer(&writer, &bytes)
    }

    private func writeTimer(_ writer: inout JSONWriter, _ bytes: inout [UInt8]) {
        if let after { writer.member("after", seconds: after, into: &bytes) }
        if let at { writer.member("at", string: at, into: &bytes) }
        if let every { writer.member("every", seconds: every, into: &bytes) }
        lease?.write(&writer, &bytes)
        if replaces { writer.member("replaces", bool: true, into: &bytes) }
        if onDisconnect { writer.member("onDisconnect", bool: true, into: &bytes) }
    }

    /// Writes the members of the call.
    func writeCall(_ writer: inout JSONWriter, _ bytes: inout [UInt8]) {
        if let wait { writer.member("wait", seconds: wait, into: &bytes) }
        if reportsObservers { writer.member("report", string: "observers", into: &bytes) }
        if let idempotencyKey {
            writer.member("idempotencyKey", string: idempotencyKey, into: &bytes)
        }
    }
}
