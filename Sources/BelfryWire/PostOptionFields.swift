internal import BelfryCenter

/// The options of a post as they come, in JSON or in a query; nil for absent ones.
struct PostOptionFields {
    var style: PostingStyle?
    var coalescing: Coalescing?
    var keepsLatest: Bool?
    var modes: [[UInt8]]?
    var maxDelay: Int64?
    var isImmediate: Bool?
    var timeToLive: Int64?
    var timer = TimerFields()
    /// Whether the style was unknown, so that misfits cannot be reported.
    var hasUnknownStyle = false

    /// The options by their names.
    enum Key: String, CaseIterable {
        case style, coalesce, keep, modes, maxDelay, immediate, ttl
        case after, at, every, lease, replaces, onDisconnect
    }

    /// Reads or skips the value of one option.
    mutating func read(
        _ key: Key, from source: inout some FieldSource, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch key {
        case .style:
            guard let text = try source.string(in: bytes) else { return }
            style = PostingStyle(text: text)
            hasUnknownStyle = style == nil
            if hasUnknownStyle { source.addFault(PostingStyle.detail) }
        case .coalesce: coalescing = try source.coalescing(in: bytes)
        case .keep: keepsLatest = try source.value(Keep.detail, in: bytes, parse: Keep.isLatest)
        case .modes: modes = try source.modes(in: bytes)
        case .maxDelay:
            maxDelay = try source.seconds(.init(above: 0, through: 86_400), in: bytes)
        case .immediate: isImmediate = try source.boolean(in: bytes)
        case .ttl: timeToLive = try source.seconds(.timeToLive, in: bytes)
        case .after:
            timer.after = try source.seconds(.init(from: 0, through: 31_622_400), in: bytes)
        case .at: timer.at = try source.time(in: bytes)
        case .every:
            timer.period = try source.seconds(.init(from: 0.1, through: 31_622_400), in: bytes)
        case .lease: timer.lease = try source.timerLease(in: bytes)
        case .replaces: timer.replaces = try source.boolean(in: bytes) ?? false
        case .onDisconnect: timer.isFarewell = try source.boolean(in: bytes) ?? false
        }
    }

    /// Reports each option that the style cannot use (rule Q1).
    func forEachMisfit(_ tell: (Key, String) -> Void) {
        if hasUnknownStyle { return }
        timer.forEachMisfit(style, tell)
        if effectiveStyle == nil {
            let detail = "requires the style now, asap or idle"
            if coalescing != nil { tell(.coalesce, detail) }
            if modes != nil { tell(.modes, detail) }
        }
        // The survivor of a post with style `now` is always the new one (rule Q8).
        if keepsLatest != nil, effectiveStyle == nil || style == .now {
            tell(.keep, "requires the style asap or idle")
        }
        if maxDelay != nil, style != .idle { tell(.maxDelay, "requires the style idle") }
    }

    /// The style in the queue; a delayed post without one is asap.
    private var effectiveStyle: PostingStyle? { style ?? (timer.isGiven ? .asap : nil) }

    /// The options with the defaults of rule Q3; nil for those of a plain post.
    var options: PostOptions? {
        let options = PostOptions(
            style: effectiveStyle, coalescing: coalescing ?? [.onName, .onSender],
            keepsLatest: keepsLatest ?? false, modes: modes ?? [Mode.default], maxDelay: maxDelay,
            isImmediate: isImmediate ?? false, timeToLive: timeToLive,
            timer: timer.isGiven ? timer.terms : nil)
        return options == Self.ofPlainPost ? nil : options
    }

    private static let ofPlainPost = PostOptions()
}
