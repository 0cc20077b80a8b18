import BelfryBytes

/// The rules for names, objects and selectors (Protocol.md section 1).
enum TextRule {
    /// The fault of a name or an object, or nil.
    static func faultOfName(_ text: Span<UInt8>, limits: WireLimits) -> String? {
        if isPlainASCII(text), text.count > 0, text.count <= limits.nameScalarLimit { return nil }
        var continuationCount = 0
        var isASCII = true
        for index in text.indices {
            let byte = text[index]
            // One comparison for both ends of the plain range 0x20 to 0x7E.
            if byte &- 0x20 < 0x5F { continue }
            if byte < 0x80 {
                return "must not contain control characters (U+0000 to U+001F, U+007F)"
            }
            isASCII = false
            if byte & 0xC0 == 0x80 { continuationCount += 1 }
        }
        let scalarCount = text.count - continuationCount
        // JSON strings are valid by now; text from a path or a query may be anything.
        if !isASCII, !isUTF8(text) { return "must be valid UTF-8" }
        guard text.count > 0, scalarCount <= limits.nameScalarLimit else {
            return "must have 1 to \(limits.nameScalarLimit) characters"
        }
        return nil
    }

    /// Whether a notification of this name may be posted by a client.
    static func isPostable(_ name: Span<UInt8>, limits: WireLimits) -> Bool {
        faultOfName(name, limits: limits) == nil && !isReserved(name)
    }

    /// The fault of a selector, or nil; it may come from a path or a query.
    static func faultOfSelector(_ text: [UInt8], limits: WireLimits) -> String? {
        guard !text.isEmpty, text.count <= limits.selectorByteLimit,
            isPlainASCII(text.span) || isUTF8(text.span)
        else {
            return "must have 1 to \(limits.selectorByteLimit) bytes of UTF-8"
        }
        if text.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            return "must not contain control characters (U+0000 to U+001F, U+007F)"
        }
        if isReserved(text) || text.starts(with: "rpc.") {
            return "must not start with belfry. or rpc."
        }
        return nil
    }

    /// The most bytes of the reason of an answer.
    static let reasonByteLimit = 1_024

    /// The fault of the reason of an answer, from a query, or nil.
    static func faultOfReason(_ text: [UInt8]) -> String? {
        guard 1...reasonByteLimit ~= text.count, isPlainASCII(text.span) || isUTF8(text.span)
        else { return "must have 1 to \(reasonByteLimit) bytes of UTF-8" }
        return nil
    }

    /// Whether a name belongs to the broker.
    static func isReserved(_ name: [UInt8]) -> Bool {
        name.first == UInt8(ascii: "b") && name.starts(with: "belfry.")
    }

    /// Whether a name belongs to the broker.
    static func isReserved(_ name: Span<UInt8>) -> Bool {
        guard name.count > 0, name[0] == UInt8(ascii: "b"), name.count >= reservedStart.count
        else { return false }
        for index in reservedStart.indices where name[index] != reservedStart[index] {
            return false
        }
        return true
    }

    private static let reservedStart = [UInt8]("belfry.".utf8)

    /// The reserved names that may be observed: what the broker tells of its clients and observers.
    static let lifetimeChannels: [[UInt8]] = [
        "belfry.client.connected", "belfry.client.suspended", "belfry.client.resumed",
        "belfry.client.left", "belfry.observer.expired", "belfry.queue.overflowed",
        "belfry.center.willTerminate", "belfry.responder.changed",
        "belfry.center.didStart", "belfry.channel.observed", "belfry.channel.unobserved",
    ].map { [UInt8]($0.utf8) }

    /// Whether a name is one of those that tell whether names are observed (rule L12).
    static func isOfChannels(_ name: [UInt8]) -> Bool {
        isReserved(name) && lifetimeChannels.suffix(2).contains(name)
    }

    /// Whether a name is one of the broker's own that may be observed.
    static func isLifetimeChannel(_ name: [UInt8]) -> Bool {
        isReserved(name) && lifetimeChannels.contains(name)
    }

    /// The fault of an idempotency key, or nil.
    static func faultOfKey(_ text: [UInt8], limits: WireLimits) -> String? {
        guard !text.isEmpty, text.count <= limits.idempotencyKeyByteLimit,
            text.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            return "must have 1 to \(limits.idempotencyKeyByteLimit) visible ASCII characters"
        }
        return nil
    }

    /// Whether all bytes are 0x20 to 0x7E, eight at a time.
    private static func isPlainASCII(_ text: Span<UInt8>) -> Bool {
        var index = 0
        while text.count &- index >= 8 {
            if !isPlainASCII(text.word(at: index)) { return false }
            index &+= 8
        }
        if index > 0 { return index == text.count || isPlainASCII(text.word(at: text.count - 8)) }
        while index < text.count {
            if text[index] &- 0x20 >= 0x5F { return false }
            index += 1
        }
        return true
    }

    /// Whether all bytes are plain; carries and borrows begin only at a byte that is not.
    private static func isPlainASCII(_ word: UInt64) -> Bool {
        let lows: UInt64 = 0x0101_0101_0101_0101
        return (word | (word &+ lows) | (word &- lows &* 0x20)) & (lows &* 0x80) == 0
    }

    private static func isUTF8(_ text: Span<UInt8>) -> Bool {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: text)
            return true
        } catch {
            return false
        }
    }
}
