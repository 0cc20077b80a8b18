import BelfryBytes
internal import BelfryJSON

/// Parses text messages of JSON-RPC 2.0 into calls.
///
/// Params stay where they are; ``RequestReader`` reads them by method.
public struct RPCReader: Sendable {
    /// The limits that it keeps.
    public let limits: WireLimits

    /// The id of an answer to a message without one (JSON-RPC 2.0 §5).
    static let nullID = [UInt8]("null".utf8)

    fileprivate enum Key: String, CaseIterable {
        case jsonrpc, id, method, params, result, error, data
    }
    private static let keys = JSONKeyTable(Key.allCases)

    /// Makes a reader.
    public init(limits: WireLimits = WireLimits()) {
        self.limits = limits
    }

    /// Parses one message; a fault of it, or of an element of it, is one of its calls.
    ///
    /// A message that is no JSON, or nests deeper than 128, and an empty or too long batch have one
    /// answer that is not in an array (JSON-RPC 2.0 §6).
    public func message(in bytes: Span<UInt8>) -> RPCMessage {
        do throws(JSONError) {
            return try parse(bytes)
        } catch {
            let offset = error.offset ?? bytes.count
            return Self.single(
                .parseError,
                "The message is not valid JSON: \(Problem.reason(of: error)) at offset \(offset).")
        }
    }

    private func parse(_ bytes: Span<UInt8>) throws(JSONError) -> RPCMessage {
        var json = JSONReader(depthLimit: FieldReader.greatestDepth)
        guard try json.peekKind(in: bytes) == .array else {
            let call = try Self.call(&json, in: bytes)
            try json.finish(in: bytes)
            return RPCMessage(calls: [call], isBatch: false)
        }
        var calls: [RPCCall] = []
        var count = 0
        try json.beginArray(in: bytes)
        while try json.nextElement(in: bytes) {
            count += 1
            if count <= limits.batchItemLimit {
                calls.append(try Self.call(&json, in: bytes))
            } else {
                _ = try json.skipValue(in: bytes)
            }
        }
        try json.finish(in: bytes)
        guard count >= 1, count <= limits.batchItemLimit else {
            let limit = limits.batchItemLimit
            return Self.single(
                .invalidRequest, "A batch must have 1 to \(limit) calls, not \(count).")
        }
        return RPCMessage(calls: calls, isBatch: true)
    }

    private static func single(_ code: RPCErrorCode, _ detail: String) -> RPCMessage {
        RPCMessage(calls: [.invalid(id: nullID, code: code, detail: detail)], isBatch: false)
    }

    /// Reads one element, and stops behind it.
    private static func call(
        _ json: inout JSONReader, in bytes: Span<UInt8>
    ) throws(JSONError) -> RPCCall {
        guard try json.peekKind(in: bytes) == .object else {
            _ = try json.skipValue(in: bytes)
            return .invalid(id: nullID, code: .invalidRequest, detail: "A call must be an object.")
        }
        var members = RPCMembers()
        var seen = JSONKeySet()
        try json.beginObject(in: bytes)
        while try nextMember(&json, in: bytes) {
            guard let ordinal = keys.ordinal(of: json.key) else {
                _ = try json.skipValue(in: bytes)
                continue
            }
            if !seen.insert(ordinal) { members.repeats(keys[ordinal]) }
            try members.read(keys[ordinal], &json, in: bytes)
        }
        return members.call(of: bytes)
    }

    /// Moves to the next member; one whose key is no text is none of ours, and is passed over.
    private static func nextMember(
        _ json: inout JSONReader, in bytes: Span<UInt8>
    ) throws(JSONError) -> Bool {
        while true {
            do throws(JSONError) {
                return try json.nextMember(in: bytes)
            } catch .loneSurrogate {
                _ = try json.skipValue(in: bytes)
            }
        }
    }
}

/// The members of one call, before its kind is known.
private struct RPCMembers {
    private var isVersion2 = false
    private var hasMethod = false
    private var method: [UInt8]?
    private var id: Range<Int>?
    private var idKind: JSONKind?
    private var params: Range<Int>?
    private var paramsKind: JSONKind?
    private var result: Range<Int>?
    private var error: Range<Int>?
    private var dataStart = 0
    private var repeatsMember = false
    private var repeatsID = false

    mutating func repeats(_ key: RPCReader.Key) {
        repeatsMember = true
        if key == .id { repeatsID = true }
    }

    @inline(__always)
    mutating func read(
        _ key: RPCReader.Key, _ json: inout JSONReader, in bytes: Span<UInt8>
    ) throws(JSONError) {
        let kind = try json.peekKind(in: bytes)
        switch key {
        case .jsonrpc: isVersion2 = try Self.isVersion2(&json, in: bytes)
        case .id: (id, idKind) = (try json.skipValue(in: bytes), kind)
        case .method: (hasMethod, method) = (true, try Self.text(&json, in: bytes))
        case .params: (params, paramsKind) = (try json.skipValue(in: bytes), kind)
        case .result: result = try json.skipValue(in: bytes)
        case .error: error = try json.skipValue(in: bytes)
        case .data: dataStart = try json.skipValue(in: bytes).lowerBound
        }
    }

    /// Reads the version; its usual spelling is compared without making a text of it.
    private static func isVersion2(
        _ json: inout JSONReader, in bytes: Span<UInt8>
    ) throws(JSONError) -> Bool {
        let range = try json.skipValue(in: bytes)
        guard bytes[range.lowerBound] == UInt8(ascii: "\"") else { return false }
        if range.count == 5, bytes[range.lowerBound + 1] == UInt8(ascii: "2"),
            bytes[range.lowerBound + 2] == UInt8(ascii: "."),
            bytes[range.lowerBound + 3] == UInt8(ascii: "0")
        {
            return true
        }
        var reader = JSONReader(startingAt: range.lowerBound)
        return try text(&reader, in: bytes)?.elementsEqual("2.0".utf8) ?? false
    }

    /// Reads a string; another value, or half a surrogate pair, is nil.
    private static func text(
        _ json: inout JSONReader, in bytes: Span<UInt8>
    ) throws(JSONError) -> [UInt8]? {
        guard try json.peekKind(in: bytes) == .string else {
            _ = try json.skipValue(in: bytes)
            return nil
        }
        do throws(JSONError) {
            return try json.readString(in: bytes)
        } catch .loneSurrogate {
            return nil
        }
    }

    func call(of bytes: Span<UInt8>) -> RPCCall {
        let id = rawID(of: bytes)
        if let fault = fault(hasID: id != nil) {
            return .invalid(id: id ?? RPCReader.nullID, code: .invalidRequest, detail: fault)
        }
        guard let method else { return response(id: id ?? RPCReader.nullID) }
        if let paramsKind, paramsKind != .object {
            return .invalid(
                id: id, code: .invalidParams,
                detail: "The member params must be an object, not \(paramsKind.text).")
        }
        if let id { return .request(id: id, method: method, params: params) }
        return .notification(method: method, params: params)
    }

    /// The reason that this is neither a call nor an answer, or nil.
    private func fault(hasID: Bool) -> String? {
        if !isVersion2 { return "The member jsonrpc must be \"2.0\"." }
        if repeatsMember { return "A member is repeated." }
        if id != nil, !hasID { return "The member id must be a string, a number or null." }
        let isResponse = result != nil || error != nil
        if hasMethod {
            if method == nil { return "The member method must be a string." }
            return isResponse ? "A call must have neither result nor error." : nil
        }
        if !isResponse { return "The member method is missing." }
        if result != nil, error != nil { return "An answer must have either result or error." }
        return hasID ? nil : "An answer must have an id."
    }

    private func response(id: [UInt8]) -> RPCCall {
        if let result {
            return .response(id: id, content: result, isError: false, dataStart: dataStart)
        }
        return .response(id: id, content: error ?? 0..<0, isError: true, dataStart: 0)
    }

    /// The id as raw JSON; nil when there is none, or none that an answer may repeat.
    private func rawID(of bytes: Span<UInt8>) -> [UInt8]? {
        guard let id, let idKind, !repeatsID else { return nil }
        switch idKind {
        case .string, .number, .null:
            var raw: [UInt8] = []
            raw.append(bytes.extracting(id))
            return raw
        case .object, .array, .boolean: return nil
        }
    }
}
