internal import BelfryJSON

/// The `userInfo` of a notification: a JSON object, kept as the bytes that it was written in.
public struct UserInfo: Equatable, Sendable {
    /// The JSON text.
    public let json: [UInt8]

    /// The deepest nesting that a broker takes.
    static let depthLimit = 64

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

    /// Takes bytes that were validated as a JSON object.
    init(validated json: [UInt8]) {
        self.json = json
    }

    /// The JSON text.
    public var text: String {
        String(decoding: json, as: UTF8.self)
    }
}
