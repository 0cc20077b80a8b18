/// The options of a post that is not plain.
///
/// They are shared and never changed: a plain post pays for one reference that is nil.
public final class PostOptions: Sendable, Equatable {
    /// The posting style; nil for a plain post (rule Q9).
    public let style: PostingStyle?
    /// The mask of the queue entries that it merges with (rules Q3 to Q6).
    public let coalescing: Coalescing
    /// Whether its content replaces that of the first entry (rule Q6).
    public let keepsLatest: Bool
    /// The modes in which it may be posted (rule Q15).
    public let modes: [[UInt8]]
    /// Nanoseconds after which an idle post counts as asap (rule Q14).
    public let maxDelay: Int64?
    /// Whether it is delivered in spite of suspension (rule D9).
    public let isImmediate: Bool
    /// Nanoseconds after which a queued or held copy is dropped.
    public let timeToLive: Int64?

    /// The timing of its entry into the queue; nil for a post without a timer.
    public let timer: TimerTerms?

    /// Whether the post may wait in the queue.
    public var isQueued: Bool { style?.isQueued ?? false }

    /// Joins the parts; the defaults are those of rule Q3.
    public init(
        style: PostingStyle? = nil, coalescing: Coalescing = [.onName, .onSender],
        keepsLatest: Bool = false, modes: [[UInt8]] = [Mode.default], maxDelay: Int64? = nil,
        isImmediate: Bool = false, timeToLive: Int64? = nil, timer: TimerTerms? = nil
    ) {
        self.style = style
        self.coalescing = coalescing
        self.keepsLatest = keepsLatest
        self.modes = modes
        self.maxDelay = maxDelay
        self.isImmediate = isImmediate
        self.timeToLive = timeToLive
        self.timer = timer
    }

    /// Whether all options are equal.
    public static func == (left: PostOptions, right: PostOptions) -> Bool {
        left.style == right.style && left.coalescing == right.coalescing
            && left.keepsLatest == right.keepsLatest && left.modes == right.modes
            && left.maxDelay == right.maxDelay && left.isImmediate == right.isImmediate
            && left.timeToLive == right.timeToLive && left.timer == right.timer
    }

    /// The options of the entry that a due timer makes; nil for the defaults.
    var withoutTimer: PostOptions? {
        let options = PostOptions(
            style: style, coalescing: coalescing, keepsLatest: keepsLatest, modes: modes,
            maxDelay: maxDelay, isImmediate: isImmediate, timeToLive: timeToLive)
        return options == Self.ofUsualEntry ? nil : options
    }

    /// The same options with the terms of a timer.
    func adding(_ timer: TimerTerms) -> PostOptions {
        PostOptions(
            style: style, coalescing: coalescing, keepsLatest: keepsLatest, modes: modes,
            maxDelay: maxDelay, isImmediate: isImmediate, timeToLive: timeToLive, timer: timer)
    }

    private static let ofUsualEntry = PostOptions(style: .asap)
}

extension PostOptions: Footprinted {
    /// The bytes of the options, with the modes.
    var footprint: Int {
        Footprint.block(of: Self.byteCount)
            + modes.reduce(
                Footprint.array(of: modes.count, stride: MemoryLayout<[UInt8]>.stride)
            ) { $0 + Footprint.array(of: $1.count) }
            + (timer == nil ? 0 : Footprint.block(of: Self.byteCount))
    }

    /// Its own bytes, about.
    private static let byteCount = 112
}
