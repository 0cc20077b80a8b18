internal import BelfryJSON

/// What a notification carries: a JSON object, kept as the bytes that it was written in.
public struct UserInfo: Equatable, Sendable {
    /// The JSON text.
    public let json: [UInt8]

    /// The deepest nesting that a broker takes.
    static let depthLimit = 64
    /// The deepest nesting of a message: a broker takes 128 levels at most (`--max-depth`).
    static let receivedDepthLimit = 144

    /// Takes a JSON object.
    ///
    /// - Throws: `ClientError.invalidUserInfo` for anything else.
    public init(json: [UInt8]) throws(ClientError) {
        var reader = JSONReader(depthLimit: Self.depthLimit)
        do {
            guard try reader.peekKind(in: json.span) == .object else {
                throw ClientError.invalidUserInfo
            }
            let range = try reader.skipValue(in: json.span)
            try reader.finish(in: json.span)
            self.json = Array(json[range])
        } catch {
            throw .invalidUserInfo
        }
    }

    /// Takes a JSON object.
    ///
    /// - Throws: `ClientError.invalidUserInfo` for anything else.
    public init(json: String) throws(ClientError) {
        try self.init(json: Array(json.utf8))
    }

    /// Whether a broker takes these bytes as JSON, of any kind.
    static func isJSON(_ json: [UInt8]) -> Bool {
        var reader = JSONReader(depthLimit: depthLimit)
        do {
            _ = try reader.skipValue(in: json.span)
            try reader.finish(in: json.span)
            return true
        } catch {
            return false
        }
    }

    /// Takes bytes that were validated as a JSON object.
    init(validated json: [UInt8]) {
        self.json = json
    }

    /// The JSON text.
    public var text: String {
        String(decoding: json, as: UTF8.self)
    }
}
