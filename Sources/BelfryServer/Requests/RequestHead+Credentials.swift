import BelfryBytes
import BelfryHTTP
import BelfryJSON
import BelfryWebSocket

extension RequestHead {
    /// The tokens in `Authorization` (RFC 6750 §2.1); nil for another scheme, or without a token.
    func bearerTokens() -> [[UInt8]]? {
        var tokens: [[UInt8]] = []
        for value in copies(of: "authorization") {
            let scheme = Array("bearer ".utf8)
            guard value.count > scheme.count,
                value.prefix(scheme.count).map({ (65...90).contains($0) ? $0 + 32 : $0 }) == scheme
            else { return nil }
            tokens.append(Array(value.dropFirst(scheme.count).drop { $0 == UInt8(ascii: " ") }))
        }
        return tokens
    }

    /// Whether the list of subprotocols is long enough for a token; mostly it is not.
    func mayHaveSubprotocolToken() -> Bool {
        mayHave("sec-websocket-protocol", ofAtLeast: OpeningRequest.bearer.utf8.count)
    }

    /// The tokens among the subprotocols, for browsers; nil where one is malformed.
    func subprotocolTokens() -> [[UInt8]]? {
        var tokens: [[UInt8]] = []
        for text in OpeningRequest.bearers(in: copies(of: "sec-websocket-protocol")) {
            // Keys and tokens have only characters of a subprotocol, so they may also come as they
            // are; in base64url both begin otherwise.
            if text.contains(UInt8(ascii: ".")) || text.starts(with: GeneratedKey.prefix.utf8) {
                tokens.append(text)
            } else if let token = Base64.url.decode(text.span) {
                tokens.append(token)
            } else {
                return nil
            }
        }
        return tokens
    }
}
