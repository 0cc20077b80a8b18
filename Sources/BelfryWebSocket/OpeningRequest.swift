/// The parts of an HTTP request that ask for a WebSocket connection (RFC 6455 §4.2.1).
///
/// The server fills it from the request head. Each field has one element a line, as the bytes of
/// its value without white space around them. Host and Origin are the server's own business.
public struct OpeningRequest: Sendable {
    /// Whether the method is GET.
    public var isGet = true
    /// Whether the version is HTTP/1.1 or later.
    public var isHTTP11OrLater = true
    /// Whether the request has content, or announces some.
    public var hasContent = false
    /// The lines of Upgrade.
    public var upgrade: [[UInt8]] = []
    /// The lines of Connection.
    public var connection: [[UInt8]] = []
    /// The lines of Sec-WebSocket-Key.
    public var key: [[UInt8]] = []
    /// The lines of Sec-WebSocket-Version.
    public var version: [[UInt8]] = []
    /// The lines of Sec-WebSocket-Protocol.
    public var subprotocols: [[UInt8]] = []
    /// The lines of Sec-WebSocket-Extensions.
    public var extensions: [[UInt8]] = []

    /// A request that is a GET of HTTP/1.1 without content, and has none of the fields yet.
    public init() {}

    /// The choice when a client offers subprotocols and none of them is the server's.
    public enum UnknownSubprotocols: Sendable {
        /// The request is refused: the two would not understand each other.
        case refused
        /// The connection is opened without a subprotocol (RFC 6455 §4.2.2 leaves the choice).
        case ignored
    }

    /// Decides whether the connection is opened.
    ///
    /// - Parameters:
    ///   - own: the subprotocols that the server speaks. The client's first one among them is
    ///     chosen; a client that offers none gets none.
    ///   - unknown: what becomes of a client that offers only others.
    ///   - allowsDeflate: whether messages may be compressed; the client's first offer that can be
    ///     agreed to is accepted, and all are declined otherwise (RFC 7692 §5).
    public func decide(
        subprotocols own: [[UInt8]], unknown: UnknownSubprotocols, allowsDeflate: Bool
    ) -> OpeningDecision {
        if let refusal = refusalOfUpgrade ?? refusalOfKey {
            return .refuse(refusal)
        }
        let offered = FieldList.elements(of: subprotocols)
        guard offered.allSatisfy(FieldList.isToken), subprotocols.isEmpty || !offered.isEmpty else {
            return .refuse(.malformedSubprotocols)
        }
        let chosen = own.isEmpty ? nil : offered.first { own.contains(Array($0)) }
        let isOnlyUnknown = chosen == nil && offered.contains { !Self.isBearer($0) }
        switch unknown {
        case .refused: if isOnlyUnknown { return .refuse(.unknownSubprotocols) }
        case .ignored: break
        }
        let firstKey = key[0]
        let agreement = deflateOffers.lazy.compactMap(DeflateAgreement.init).first
        return .accept(
            acceptKey: OpeningKey.accept(for: firstKey.span), subprotocol: chosen.map { Array($0) },
            deflate: allowsDeflate ? agreement : nil)
    }

    /// The offers of permessage-deflate that a server could accept, the preferred one first.
    ///
    /// Offers with unknown, repeated or invalid parameters are left out (RFC 7692 §7.1); a field
    /// that breaks the grammar offers nothing.
    public var deflateOffers: [DeflateOffer] {
        (ExtensionOffer.parse(extensions) ?? []).compactMap(DeflateOffer.init)
    }

    private var refusalOfUpgrade: OpeningRefusal? {
        if !isGet {
            .methodNotGet
        } else if !isHTTP11OrLater {
            .versionTooOld
        } else if hasContent {
            .hasContent
        } else if !FieldList.contains("websocket", in: upgrade) {
            .noUpgrade
        } else if !FieldList.contains("upgrade", in: connection) {
            .noConnectionUpgrade
        } else {
            nil
        }
    }

    private var refusalOfKey: OpeningRefusal? {
        let firstKey = key.first ?? []
        return if version.count > 1 {
            .repeatedVersion
        } else if version.first.map({ $0.elementsEqual("13".utf8) }) != true {
            .unsupportedVersion
        } else if key.count != 1 {
            key.isEmpty ? .noKey : .repeatedKey
        } else if !OpeningKey.isValid(firstKey.span) {
            .invalidKey
        } else {
            nil
        }
    }

    /// The credentials in the lines of Sec-WebSocket-Protocol, without their prefix.
    public static func bearers(in lines: [[UInt8]]) -> [[UInt8]] {
        FieldList.elements(of: lines).filter(isBearer).map {
            Array($0.dropFirst(bearer.utf8.count))
        }
    }

    /// The prefix of a credential in the list of subprotocols.
    public static let bearer = "base64url.bearer.belfry."

    /// Whether a name in the list carries a credential instead of naming a subprotocol.
    ///
    /// Browsers cannot send Authorization on a WebSocket, so a token travels in this list.
    private static func isBearer(_ name: ArraySlice<UInt8>) -> Bool {
        name.starts(with: bearer.utf8)
    }
}
