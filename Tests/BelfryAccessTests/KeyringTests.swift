import Foundation
import Testing

@testable import BelfryAccess

@Suite("Keyring and its files")
struct KeyringTests {
    private static let hash = "sha256:" + String(repeating: "0a", count: 32)
    private static let digest = TokenDigest(Array(repeating: 0x0A, count: 32))

    private func keyring(_ file: String) throws(AccessError) -> Keyring {
        try Keyring(keys: Array(file.utf8), keySet: nil)
    }

    @Test("a key is found by its hash, with its principal, grants and end")
    func key() throws {
        let keyring = try keyring(
            #"""
            {"keys":[{"id":"till-1","principal":"till","hash":"\#(Self.hash)",
            "grants":[{"verbs":["post","observe"]}],"expires":"2027-01-31T12:00:00.5Z"},
            {"id":"other","hash":"\#(Self.hash.dropLast())b","grants":[]}]}
            """#)
        let digest = try #require(Self.digest)
        let caller = try #require(keyring.caller(digest))
        #expect(caller.principal == Array("till".utf8))
        #expect(caller.expiresAt == 1_801_396_800_500)
        #expect(caller.fault(at: caller.expiresAt - 1) == nil)
        #expect(caller.fault(at: caller.expiresAt) == .expired)
        #expect(caller.grants.allowEverywhere(.post))
        #expect(keyring.keyCount == 2)
        let other = try #require(TokenDigest(Array(repeating: 0x0A, count: 31) + [0x0B]))
        #expect(keyring.caller(other)?.principal == Array("other".utf8))
        let unknown = try #require(TokenDigest(Array(repeating: 1, count: 32)))
        #expect(keyring.caller(unknown) == nil)
        #expect(digest.text == Self.hash)
        // Another broker with the same keys knows the holder by the hash.
        #expect(Keyring.shown(Array("secret".utf8), by: caller) == Array(Self.hash.utf8))
        #expect(try keyring.caller(byShown: Array(Self.hash.utf8)) === caller)
        let error = thrown { () throws(AccessError) in
            _ = try Keyring().caller(byShown: Array(Self.hash.utf8))
        }
        #expect(error == .refusedToken(.unknownKey))
    }

    @Test("faults of a key file are told with pointer and line, and never with a value")
    func faults() throws {
        let row = #""hash":"\#(Self.hash)","grants":[]"#
        let rows: [(String, String)] = [
            ("", "line 1 is not valid JSON"), ("{\n\n]", "line 3 is not valid JSON"),
            ("{} x", "line 1 is not valid JSON"),
            ("[]", "# (line 1) must be an object"),
            (#"{"key":[]}"#, "#/key (line 1) is not a member of a key file"),
            (#"{"keys":{}}"#, "#/keys (line 1) must be an array"),
            (#"{"keys":[],"keys":[]}"#, "#/keys (line 1) is repeated"),
            ("{\"keys\":[\n{\"id\":\"a\"}]}", "#/keys/0 (line 2) must have id, hash and grants"),
            (
                #"{"keys":[{"id":"anonymous",\#(row)}]}"#,
                "#/keys/0/id (line 1) must be 1 to 255 characters without controls, not anonymous, broker, c1 or jwt:1"
            ),
            (
                #"{"keys":[{"id":"a",\#(row),"note":1}]}"#,
                "#/keys/0/note (line 1) is not a member of a key"
            ),
            (
                #"{"keys":[{"id":"a",\#(row)},{"id":"a",\#(row)}]}"#,
                "#/keys/1 (line 1) repeats an id or a hash"
            ),
            (
                #"{"keys":[{"id":"a","hash":"secret","grants":[]}]}"#,
                "#/keys/0/hash (line 1) must be sha256: and 64 digits 0-9 or a-f"
            ),
            (
                #"{"keys":[{"id":"a",\#(row),"expires":"2027-02-29T00:00:00Z"}]}"#,
                "#/keys/0/expires (line 1) must be a time such as 2027-01-31T12:00:00Z"
            ),
            (
                #"{"keys":[{"id":"a","hash":"\#(Self.hash)","grants":[{"verbs":["fly"]}]}]}"#,
                "#/keys/0/grants/0/verbs/0 (line 1) is not a verb"
            ),
            (
                #"{"keys":[{"id":"a","hash":"\#(Self.hash)","grants":[{"verbs":[]}]}]}"#,
                "#/keys/0/grants/0 (line 1) has no verbs"
            ),
            (
                #"{"jwt":[{"kid":"a","alg":"HS1","secret":"AA"}]}"#,
                "#/jwt/0/alg (line 1) must be one of HS256, HS384, HS512, RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA"
            ),
            (
                #"{"jwt":[{"kid":"a","alg":"HS256","secret":"c2hvcnQ"}]}"#,
                "#/jwt/0 (line 1) is not a key for HS256, or is too weak"
            ),
            (
                #"{"jwt":[{"kid":"a","alg":"HS256","secret":"x+y="}]}"#,
                "#/jwt/0/secret (line 1) must be base64url without padding"
            ),
            (
                #"{"jwt":[{"kid":"a","alg":"HS256"}]}"#,
                "#/jwt/0 (line 1) must have kid, alg, and secret or pem"
            ),
            (
                #"{"jwt":[{"kid":"a","alg":"ES256","pem":"nonsense"}]}"#,
                "#/jwt/0 (line 1) is not a key for ES256, or is too weak"
            ),
        ]
        for (file, wanted) in rows {
            let error = thrown { () throws(AccessError) in
                _ = try keyring(file)
            }
            #expect(error?.sentence == wanted, "\(file)")
        }
    }

    @Test("a short RSA key, a key of another algorithm, and a kid that is repeated are refused")
    func weakKeys() throws {
        let short = Signer.pemRow("a", "RS256", try Signer.fixture("rsa-1024-public.pem"))
        let rsa = try Signer.fixture("rsa-public.pem")
        let good = Signer.pemRow("a", "RS256", rsa)
        for rows in [
            short, Signer.pemRow("a", "ES256", rsa), Signer.pemRow("a", "EdDSA", rsa),
            Signer.pemRow("a", "HS256", rsa), good + "," + good,
        ] {
            let error = thrown { () throws(AccessError) in
                _ = try keyring(#"{"jwt":[\#(rows)]}"#)
            }
            #expect(error != nil)
        }
        let count = try keyring(#"{"jwt":[\#(good)]}"#).tokenKeyCount
        #expect(count == 1)
    }

    @Test("a caller stays after a reload while its key says the same, and no longer")
    func reload() throws {
        func file(_ id: String, _ verbs: String, _ expires: String = "") -> String {
            #"{"keys":[{"id":"\#(id)","hash":"\#(Self.hash)","grants":[{"verbs":["\#(verbs)"]}]\#(expires)}]}"#
        }
        let old = try keyring(file("a", "post"))
        let digest = try #require(Self.digest)
        let caller = try #require(old.caller(digest))
        let same = try keyring(file("a", "post"))
        #expect(same.stillHas(caller))
        let end = #","expires":"2030-01-01T00:00:00Z""#
        for changed in [file("b", "post"), file("a", "observe"), file("a", "post", end)] {
            let other = try keyring(changed)
            #expect(!other.stillHas(caller))
        }
        #expect(!Keyring().stillHas(caller))
        #expect(Keyring().stillHas(.anonymous(.none)))
        let signer = Signer.hmac()
        let tokens = try keyring(#"{"jwt":[\#(signer.row)]}"#)
        let token = signer.token(header: #"{"alg":"HS256"}"#, claims: #"{"exp":1}"#)
        let holder = try tokens.token(Array(token.utf8)).verify()
        #expect(tokens.stillHas(holder))
        var rules = TokenRules()
        rules.audiences = ["x"]
        let stricter = try Keyring(
            keys: Array(#"{"jwt":[\#(signer.row)]}"#.utf8), keySet: nil, rules: rules)
        #expect(!stricter.stillHas(holder))
        #expect(!same.stillHas(holder))
    }

    @Test("verdicts are kept up to the limit, and the oldest goes")
    func cache() throws {
        var cache = VerdictCache(limit: 3)
        func digest(_ number: UInt8) throws -> TokenDigest {
            try #require(TokenDigest(Array(repeating: number, count: 32)))
        }
        for number in 0..<UInt8(3) {
            cache.insert(.anonymous(.none), for: try digest(number))
        }
        #expect(cache.count == 3)
        #expect(cache.caller(try digest(0)) != nil)
        cache.insert(.anonymous(.none), for: try digest(9))
        #expect(cache.count == 3)
        #expect(cache.caller(try digest(0)) == nil)
        #expect(cache.caller(try digest(1)) != nil)
        cache.insert(.anonymous(.none), for: try digest(9))
        #expect(cache.count == 3)
        cache.removeAll()
        #expect(cache.caller(try digest(9)) == nil)
    }

    @Test("times of a file are UTC, to the millisecond")
    func times() {
        let rows: [(String, Int64?)] = [
            ("1970-01-01T00:00:00Z", 0), ("2000-02-29T23:59:59.999Z", 951_868_799_999),
            ("2026-11-21T08:00:00Z", 1_795_248_000_000), ("1969-12-31T23:59:59Z", -1_000),
            ("2026-11-21T08:00:00", nil), ("2026-11-21T08:00:00+01:00", nil),
            ("2026-13-01T00:00:00Z", nil), ("2026-11-31T00:00:00Z", nil),
            ("2026-11-21T24:00:00Z", nil), ("2026-11-21T08:00:00.Z", nil), ("Z", nil), ("", nil),
        ]
        for (text, wanted) in rows { #expect(UTCTime.milliseconds(Array(text.utf8)) == wanted) }
    }
}
