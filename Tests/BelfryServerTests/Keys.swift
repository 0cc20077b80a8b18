import BelfryAccess
import BelfryWebSocket
import TestCertificates

@testable import BelfryServer

/// Keys and tokens of tests.
struct Keys {
    /// 2026-01-01T00:00:00Z, when the clocks of embedded kernels start, in seconds since 1970.
    static let start = 1_767_225_600

    private var rows: [String] = []
    private var tokenRows: [String] = []

    /// The secret of the key with this id.
    static func secret(_ id: String) -> String { "belfry_secret-of-\(id)" }

    /// The field that shows a key.
    static func field(_ id: String) -> String { "Authorization: Bearer \(secret(id))" }

    /// Adds a key; `grants` is the JSON of an array.
    mutating func add(
        _ id: String, principal: String? = nil, _ grants: String, expires: String? = nil
    ) {
        var row = #"{"id":"\#(id)","hash":"\#(TokenDigest(of: Array(Self.secret(id).utf8)).text)""#
        row += #","grants":\#(grants)"#
        if let principal { row += #","principal":"\#(principal)""# }
        if let expires { row += #","expires":"\#(expires)""# }
        rows.append(row + "}")
    }

    /// Adds a key of tokens.
    mutating func add(tokensOf signer: TokenSigner) {
        tokenRows.append(signer.row)
    }

    /// The key file.
    var file: String {
        #"{"keys":[\#(rows.joined(separator: ","))],"jwt":[\#(tokenRows.joined(separator: ","))]}"#
    }

    func keyring(_ rules: TokenRules = TokenRules()) throws -> Keyring {
        try Keyring(keys: Array(file.utf8), keySet: nil, rules: rules)
    }
}

/// Signs tokens with HS256.
struct TokenSigner: Sendable {
    let kid: String
    private let secret: [UInt8]
    private let signer: TestSigner

    init(_ kid: String) {
        self.kid = kid
        secret = Array("0123456789abcdef0123456789abcdef\(kid)".utf8)
        signer = TestSigner(.secret(secret))
    }

    var row: String {
        let text = String(decoding: Base64.url.encode(secret.span), as: UTF8.self)
        return #"{"kid":"\#(kid)","alg":"HS256","secret":"\#(text)"}"#
    }

    /// A token with these members besides `exp`, which is so many seconds after the clocks start.
    func token(
        _ subject: String, endsAfter seconds: Int, grants: String = #"[{"verbs":["post"]}]"#,
        more: String = ""
    ) -> String {
        let claims = """
            {"sub":"\(subject)","exp":\(Keys.start + seconds),"belfry":{"grants":\(grants)}\(more)}
            """
        let header = #"{"alg":"HS256","kid":"\#(kid)"}"#
        let signed = Self.text(Array(header.utf8)) + "." + Self.text(Array(claims.utf8))
        return signed + "." + Self.text(signer.sign(Array(signed.utf8)))
    }

    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.url.encode(bytes.span), as: UTF8.self)
    }
}
