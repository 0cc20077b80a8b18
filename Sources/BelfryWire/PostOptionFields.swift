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

    /// The options, in the order of their ordinals.
    enum Key: Int, CaseIterable {
        case style, coalesce, keep, modes, maxDelay, immediate, ttl
        case after, at, every, lease, replaces, onDisconnect

        var text: String {
            switch self {
            case .style: "style"
            case .coalesce: "coalesce"
            case .keep: "keep"
            case .modes: "modes"
            case .maxDelay: "maxDelay"
            case .immediate: "immediate"
            case .ttl: "ttl"
            case .after: "after"
            case .at: "at"
            case .every: "every"
            case .lease: "lease"
            case .replaces: "replaces"
            case .onDisconnect: "onDisconnect"
            }
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

    /// Adds a mode unless it is there.
    static func add(_ mode: [UInt8], to modes: inout [[UInt8]]) {
        if !modes.contains(mode) { modes.append(mode) }
    }
}

// In JSON.
extension PostOptionFields {
    /// Reads or skips the value of one member.
    mutating func read(
        _ key: Key, _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch key {
        case .style:
            guard let text = try fields.optionalString("style", in: bytes) else { return }
            style = PostingStyle(text: text)
            hasUnknownStyle = style == nil
            if hasUnknownStyle { fields.addFault("style", PostingStyle.detail) }
        case .coalesce: coalescing = try fields.optionalCoalescing("coalesce", in: bytes)
        case .keep:
            guard let text = try fields.optionalString("keep", in: bytes) else { return }
            keepsLatest = Keep.isLatest(text)
            if keepsLatest == nil { fields.addFault("keep", Keep.detail) }
        case .modes: modes = try fields.optionalModes("modes", in: bytes)
        case .maxDelay: maxDelay = try fields.optionalSeconds("maxDelay", .maxDelay, in: bytes)
        case .immediate: isImmediate = try fields.optionalBoolean("immediate", in: bytes)
        case .ttl: timeToLive = try fields.optionalSeconds("ttl", .timeToLive, in: bytes)
        case .after: timer.after = try fields.optionalSeconds("after", .delay, in: bytes)
        case .at: timer.at = try fields.optionalTime("at", in: bytes)
        case .every: timer.period = try fields.optionalSeconds("every", .period, in: bytes)
        case .lease: timer.lease = try fields.timerLease("lease", in: bytes)
        case .replaces:
            timer.replaces = try fields.optionalBoolean("replaces", in: bytes) ?? false
        case .onDisconnect:
            timer.isFarewell = try fields.optionalBoolean("onDisconnect", in: bytes) ?? false
        }
    }
}

// In a query.
extension PostOptionFields {
    /// Sets a parameter from its value, and returns its fault or nil.
    mutating func set(_ key: Key, to text: [UInt8], limits: WireLimits) -> String? {
        switch key {
        case .style:
            style = PostingStyle(text: text)
            hasUnknownStyle = style == nil
            return hasUnknownStyle ? PostingStyle.detail : nil
        case .coalesce:
            coalescing = Coalescing(list: text)
            return coalescing == nil ? Coalescing.listDetail : nil
        case .keep:
            keepsLatest = Keep.isLatest(text)
            return keepsLatest == nil ? Keep.detail : nil
        case .modes: return setModes(text, limits: limits)
        case .maxDelay:
            maxDelay = SecondsRule.maxDelay.nanoseconds(ofText: text)
            return maxDelay == nil ? SecondsRule.maxDelay.detail : nil
        case .immediate:
            isImmediate = Self.boolean(text)
            return isImmediate == nil ? Self.booleanDetail : nil
        case .ttl:
            timeToLive = SecondsRule.timeToLive.nanoseconds(ofText: text)
            return timeToLive == nil ? SecondsRule.timeToLive.detail : nil
        case .after, .at, .every, .lease, .replaces, .onDisconnect:
            return setTimer(key, to: text)
        }
    }

    private mutating func setTimer(_ key: Key, to text: [UInt8]) -> String? {
        switch key {
        case .after:
            timer.after = SecondsRule.delay.nanoseconds(ofText: text)
            return timer.after == nil ? SecondsRule.delay.detail : nil
        case .at:
            timer.at = TimeText.milliseconds(of: text.span)
            return timer.at == nil ? TimeText.detail : nil
        case .every:
            timer.period = SecondsRule.period.nanoseconds(ofText: text)
            return timer.period == nil ? SecondsRule.period.detail : nil
        case .lease:
            timer.lease = TimerFields.Lease(text: text)
            return timer.lease == nil ? TimerFields.Lease.detail : nil
        case .replaces:
            let flag = Self.boolean(text)
            timer.replaces = flag ?? false
            return flag == nil ? Self.booleanDetail : nil
        default:
            guard let flag = Self.boolean(text) else { return Self.booleanDetail }
            return flag ? TimerFields.farewellDetail : nil
        }
    }

    private static func boolean(_ text: [UInt8]) -> Bool? {
        if text.elementsEqual("true".utf8) { return true }
        return text.elementsEqual("false".utf8) ? false : nil
    }

    private static let booleanDetail = "must be true or false"

    private mutating func setModes(_ text: [UInt8], limits: WireLimits) -> String? {
        let names = text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard names.count <= limits.modeCountLimit else {
            return "must have 1 to \(limits.modeCountLimit) names, not \(names.count)"
        }
        var modes: [[UInt8]] = []
        for name in names {
            let mode = [UInt8](name)
            if let fault = TextRule.faultOfName(mode.span, limits: limits) { return fault }
            Self.add(mode, to: &modes)
        }
        self.modes = modes
        return nil
    }
}
