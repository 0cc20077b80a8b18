/// An offer of permessage-deflate whose parameters are valid (RFC 7692 §7.1).
public struct DeflateOffer: Equatable, Sendable {
    /// Whether the server is asked to compress each message for itself (§7.1.1.1).
    public private(set) var serverNoContextTakeover = false
    /// Whether the client says that it will compress each message for itself (§7.1.1.2).
    public private(set) var clientNoContextTakeover = false
    /// The largest window that the server may use, as a power of two from 8 to 15 (§7.1.2.1).
    public private(set) var serverWindowBitLimit: Int?
    /// Whether the client understands a limit for its own window (§7.1.2.2).
    public private(set) var allowsClientWindowBitLimit = false
    /// The largest window that the client will use, as a power of two from 8 to 15 (§7.1.2.2).
    public private(set) var clientWindowBitLimit: Int?

    /// Reads an offer; `nil` for another extension, and for an offer that "MUST" be declined.
    init?(_ offer: ExtensionOffer) {
        guard offer.name.elementsEqual("permessage-deflate".utf8) else { return nil }
        var seen: Set<[UInt8]> = []
        for parameter in offer.parameters {
            guard seen.insert(parameter.name).inserted, take(parameter) else { return nil }
        }
    }

    private mutating func take(_ parameter: ExtensionOffer.Parameter) -> Bool {
        let bitLimit = parameter.value.flatMap(Self.bitLimit)
        // The name is a token, so it is ASCII, and comparing it as a String compares its bytes.
        switch String(decoding: parameter.name, as: UTF8.self) {
        case "server_no_context_takeover":
            serverNoContextTakeover = true
            return parameter.value == nil
        case "client_no_context_takeover":
            clientNoContextTakeover = true
            return parameter.value == nil
        case "server_max_window_bits":
            serverWindowBitLimit = bitLimit
            return bitLimit != nil
        case "client_max_window_bits":
            allowsClientWindowBitLimit = true
            clientWindowBitLimit = bitLimit
            return parameter.value == nil || bitLimit != nil
        default:
            return false
        }
    }

    /// "A decimal integer value without leading zeroes between 8 to 15" (§7.1.2.1).
    private static func bitLimit(_ text: [UInt8]) -> Int? {
        (8...15).first { text.elementsEqual(String($0).utf8) }
    }
}
