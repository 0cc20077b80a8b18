/// The parameters that both sides agree on for compressed messages (RFC 7692 §7.1).
///
/// Neither side keeps its window from one message to the next: so one compressed message serves
/// many connections, and a connection keeps nothing between two messages.
public struct DeflateAgreement: Equatable, Sendable {
    /// The window of the server's deflater as a power of two: one of `Deflater.windowBitCounts`.
    public let windowBitCount: Int

    private let namesWindow: Bool

    /// Agrees to an offer, or declines it.
    ///
    /// A window of 8 bits is declined, since zlib has none; the client's own window may be as large
    /// as it likes.
    init?(_ offer: DeflateOffer) {
        let limit = offer.serverWindowBitLimit ?? 15
        guard let windowBitCount = Deflater.windowBitCounts.first(where: { $0 <= limit }) else {
            return nil
        }
        self.windowBitCount = windowBitCount
        namesWindow = offer.serverWindowBitLimit != nil
    }

    /// The value of Sec-WebSocket-Extensions in the answer.
    ///
    /// Both `no_context_takeover` may be there without having been offered (§7.1.1); a limit of the
    /// server's window that was offered must (§7.1.2.1).
    public var fieldValue: [UInt8] {
        let window = namesWindow ? "; server_max_window_bits=\(windowBitCount)" : ""
        return Array((Self.offer + window).utf8)
    }

    /// The offer of this room's client, and the beginning of its server's answer.
    private static let offer =
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

    /// The value of Sec-WebSocket-Extensions in a client's request.
    public static let clientFieldValue = Array(offer.utf8)

    /// Whether an answer agrees to `clientFieldValue`, and to nothing else (§7.1).
    static func isAgreed(_ lines: [[UInt8]]) -> Bool {
        guard let extensions = ExtensionOffer.parse(lines), extensions.count == 1,
            let answer = DeflateOffer(extensions[0])
        else { return false }
        // The client's window was not offered to be limited.
        return answer.serverNoContextTakeover && !answer.allowsClientWindowBitLimit
    }
}
