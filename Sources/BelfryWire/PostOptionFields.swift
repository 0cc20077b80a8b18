internal import BelfryCenter

/// The options of a post as they come, in JSON or in a query; nil is what was not given.
struct PostOptionFields {
    var style: PostingStyle?
    var coalescing: Coalescing?
    var keepsLatest: Bool?
    var modes: [[UInt8]]?
    var maxDelay: Int64?
    var isImmediate: Bool?
    var timeToLive: Int64?
    /// Whether there was a style that is none: then nobody knows what it could use.
    var hasUnknownStyle = false

    /// The options, in the order of their ordinals.
    enum Key: Int, CaseIterable {
        case style, coalesce, keep, modes, maxDelay, immediate, ttl

        var text: String {
            switch self {
            case .style: "style"
            case .coalesce: "coalesce"
            case .keep: "keep"
            case .modes: "modes"
            case .maxDelay: "maxDelay"
            case .immediate: "immediate"
            case .ttl: "ttl"
            }
        }
    }

    /// Tells each option that the style cannot use (rule Q1).
    func forEachMisfit(_ tell: (Key, String) -> Void) {
        if hasUnknownStyle { return }
        if style == nil {
            let detail = "needs the style now, asap or idle"
            if coalescing != nil { tell(.coalesce, detail) }
            if modes != nil { tell(.modes, detail) }
        }
        // What is posted now is always the new one (rule Q8).
        if keepsLatest != nil, style == nil || style == .now {
            tell(.keep, "needs the style asap or idle")
        }
        if maxDelay != nil, style != .idle { tell(.maxDelay, "needs the style idle") }
    }

    /// The options with the defaults of rule Q3; nil for those of a plain post.
    var options: PostOptions? {
        let options = PostOptions(
            style: style, coalescing: coalescing ?? [.onName, .onSender],
            keepsLatest: keepsLatest ?? false, modes: modes ?? [Mode.default], maxDelay: maxDelay,
            isImmediate: isImmediate ?? false, timeToLive: timeToLive)
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
        }
    }
}

// In a query.
extension PostOptionFields {
    /// Takes the value of a parameter; tells what is wrong with it, or nil.
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
            isImmediate = text.elementsEqual("true".utf8)
            let isBoolean = isImmediate == true || text.elementsEqual("false".utf8)
            return isBoolean ? nil : "must be true or false"
        case .ttl:
            timeToLive = SecondsRule.timeToLive.nanoseconds(ofText: text)
            return timeToLive == nil ? SecondsRule.timeToLive.detail : nil
        }
    }

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
