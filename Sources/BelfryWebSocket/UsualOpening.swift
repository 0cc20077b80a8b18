/// The opening that nearly every client sends, read where its fields lie.
///
/// That is one line of each field, at most one subprotocol, which is the server's, and no
/// extension. `OpeningRequest` decides about whatever else a request says, and would decide alike
/// about this.
public struct UsualOpening {
    private struct Fields: OptionSet {
        let rawValue: UInt8

        static let upgrade = Fields(rawValue: 1)
        static let connection = Fields(rawValue: 2)
        static let version = Fields(rawValue: 4)
        static let key = Fields(rawValue: 8)
        static let subprotocol = Fields(rawValue: 16)
        /// Something that is not usual.
        static let other = Fields(rawValue: 32)

        static let needed: Fields = [.upgrade, .connection, .version, .key]
    }

    private var fields: Fields = []
    private var key = [24 of UInt8](repeating: 0)

    /// An opening of which nothing was read yet.
    public init() {}

    /// Reads one field line of a GET of HTTP/1.1 without content.
    ///
    /// - Parameters:
    ///   - name: the name as it was sent.
    ///   - value: the value without white space around it.
    ///   - own: the subprotocol that the server speaks.
    public mutating func read(
        _ name: Span<UInt8>, _ value: Span<UInt8>, subprotocol own: Span<UInt8>
    ) {
        switch name.count {
        case 7 where Self.isText(name, Self.upgradeName):
            note(.upgrade, isUsual: Self.isText(value, Self.webSocket))
        case 10 where Self.isText(name, Self.connectionName):
            let isUsual =
                Self.isText(value, Self.upgradeName) || Self.isText(value, Self.keepAliveUpgrade)
            note(.connection, isUsual: isUsual)
        case 17 where Self.isText(name, Self.keyName):
            let isUsual = OpeningKey.isValid(value)
            note(.key, isUsual: isUsual)
            if isUsual { for index in key.indices { key[index] = value[index] } }
        case 21 where Self.isText(name, Self.versionName):
            note(.version, isUsual: Self.isText(value, Self.version))
        case 22 where Self.isText(name, Self.subprotocolName):
            note(.subprotocol, isUsual: Self.areEqual(value, own))
        case 24 where Self.isText(name, Self.extensionsName):
            fields.insert(.other)
        default:
            break
        }
    }

    /// The value of Sec-WebSocket-Accept, and whether the subprotocol was asked for; `nil` when the
    /// opening is not usual.
    public var answer: (acceptKey: [UInt8], hasSubprotocol: Bool)? {
        guard fields.isSuperset(of: .needed), !fields.contains(.other) else { return nil }
        return (OpeningKey.accept(for: key.span), fields.contains(.subprotocol))
    }

    private mutating func note(_ field: Fields, isUsual: Bool) {
        fields.insert(isUsual && fields.isDisjoint(with: field) ? field : .other)
    }

    private static let upgradeName = Array("upgrade".utf8)
    private static let connectionName = Array("connection".utf8)
    private static let keyName = Array("sec-websocket-key".utf8)
    private static let versionName = Array("sec-websocket-version".utf8)
    private static let subprotocolName = Array("sec-websocket-protocol".utf8)
    private static let extensionsName = Array("sec-websocket-extensions".utf8)
    private static let webSocket = Array("websocket".utf8)
    private static let keepAliveUpgrade = Array("keep-alive, upgrade".utf8)
    private static let version = Array("13".utf8)

    /// Whether these are the bytes of a text in lower case, with letters of either case.
    private static func isText(_ bytes: Span<UInt8>, _ text: [UInt8]) -> Bool {
        let text = text.span
        guard bytes.count == text.count else { return false }
        for index in bytes.indices where FieldList.lowercased(bytes[index]) != text[index] {
            return false
        }
        return true
    }

    private static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        for index in left.indices where left[index] != right[index] { return false }
        return true
    }
}
