import BelfryBytes
import BelfryHTTP
import BelfryJSON
import BelfryWebSocket

extension RequestHead {
    /// The tokens in `Authorization` (RFC 6750 §2.1); nil where there is another scheme, or no token.
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

    /// Whether the list of subprotocols is long enough to have a token in it; mostly it is not.
    func mayHaveSubprotocolToken() -> Bool {
        mayHave("sec-websocket-protocol", ofAtLeast: OpeningRequest.bearer.utf8.count)
    }

    /// The tokens among the subprotocols, where a browser can put one; nil where one is no text of a token.
    func subprotocolTokens() -> [[UInt8]]? {
        var tokens: [[UInt8]] = []
        for text in OpeningRequest.bearers(in: copies(of: "sec-websocket-protocol")) {
            // Keys and tokens have only characters that a subprotocol may have, so they may also
            // stand as they are; in base64url both begin otherwise.
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
