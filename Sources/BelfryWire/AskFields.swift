import BelfryBytes
internal import BelfryCenter
internal import BelfryJSON

/// The fields of an ask as they come, in JSON or in a query; nil for absent ones.
struct AskFields {
    var causedBy: NotificationID?
    var fallback: [UInt8]?
    var isOnce = false
    var timeToLive: Int64?

    /// The parameters of an ask over HTTP, whose address and selector are in the path.
    enum Parameter: Int, CaseIterable {
        case fallback, once, ttl, causedBy

        var text: String {
            switch self {
            case .fallback: "default"
            case .once: "once"
            case .ttl: "ttl"
            case .causedBy: "causedBy"
            }
        }
    }

    /// Sets a parameter from its text, and returns its fault or nil.
    ///
    /// A default that is too long is reported elsewhere, as its status is another one.
    mutating func set(_ parameter: Parameter, to text: [UInt8], limits: WireLimits) -> String? {
        switch parameter {
        case .fallback: return setFallback(text, limits: limits)
        case .once:
            isOnce = text.elementsEqual("true".utf8)
            return isOnce || text.elementsEqual("false".utf8) ? nil : "must be true or false"
        case .ttl:
            timeToLive = SecondsRule.askLifetime.nanoseconds(ofText: text)
            return timeToLive == nil ? SecondsRule.askLifetime.detail : nil
        case .causedBy:
            causedBy = NotificationID(text: text.span)
            return causedBy == nil ? "must be the id of a notification" : nil
        }
    }

    private mutating func setFallback(_ text: [UInt8], limits: WireLimits) -> String? {
        var scanner = JSONScanner(depthLimit: limits.userInfoDepthLimit)
        do throws(JSONError) {
            let range = try scanner.skipValue(in: text.span)
            try scanner.finish(in: text.span)
            fallback = Array(text[range])
            return nil
        } catch .depthLimit {
            return Self.fallbackDepthDetail(limits)
        } catch {
            return #"must be JSON, as in default=false and default="none""#
        }
    }

    static let fallbackName = "A default"

    static func fallbackDepthDetail(_ limits: WireLimits) -> String {
        "must not nest deeper than \(limits.userInfoDepthLimit) levels"
    }
}

extension FieldReader {
    private static let askKeys = JSONKeyTable([
        "object", "selector", "userInfo", "default", "once", "ttl", "causedBy", "wait",
        "idempotencyKey",
    ])

    /// Reads the members of an ask over JSON-RPC; a default of null is one.
    mutating func readAsk(in bytes: Span<UInt8>) throws(Problem) -> AskRequest? {
        var ask = AskFields()
        var (object, selector): ([UInt8]?, [UInt8]?)
        var userInfo: Range<Int>?
        var waitSeconds: Double?
        var idempotencyKey: [UInt8]?
        let isObject = try readObject(Self.askKeys, in: bytes) {
            (fields, ordinal, bytes) throws(Problem) in
            switch ordinal {
            case 0: object = try fields.name("object", in: bytes)
            case 1: selector = try fields.selector("selector", in: bytes)
            case 2: userInfo = try fields.userInfo("userInfo", in: bytes)
            case 3:
                let range = try fields.fallback("default", in: bytes)
                ask.fallback = [UInt8](copying: bytes.extracting(range))
            case 4: ask.isOnce = try fields.optionalBoolean("once", in: bytes) ?? false
            case 5: ask.timeToLive = try fields.optionalSeconds("ttl", .askLifetime, in: bytes)
            case 6: ask.causedBy = try fields.optionalNotificationID("causedBy", in: bytes)
            case 7:
                let limit = PostFields.waitLimit
                waitSeconds = try fields.optionalNumber("wait", upTo: limit, in: bytes)
            default:
                idempotencyKey = try fields.optionalIdempotencyKey("idempotencyKey", in: bytes)
            }
        }
        if isObject, !has(0) { addFault("object", "is required") }
        if isObject, !has(1) { addFault("selector", "is required") }
        guard faults.isEmpty, let object, let selector else { return nil }
        let content = PostFields.content(
            name: selector, object: object, userInfo: userInfo, of: bytes)
        return AskRequest(
            content: content, causedBy: ask.causedBy, fallback: ask.fallback, isOnce: ask.isOnce,
            timeToLive: ask.timeToLive, waitSeconds: waitSeconds, idempotencyKey: idempotencyKey)
    }

    private static let withdrawalKeys = JSONKeyTable(["id"])

    /// Reads the ask that is to be withdrawn.
    mutating func readWithdrawal(in bytes: Span<UInt8>) throws(Problem) -> NotificationID? {
        var id: NotificationID?
        let isObject = try readObject(Self.withdrawalKeys, in: bytes) {
            (fields, _, bytes) throws(Problem) in
            id = try fields.notificationID("id", in: bytes)
        }
        if isObject, !has(0) { addFault("id", "is required") }
        return id
    }
}
