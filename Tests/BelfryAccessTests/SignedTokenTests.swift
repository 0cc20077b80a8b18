import Foundation
import Testing

@testable import BelfryAccess

@Suite("Signed tokens (RFC 7515, RFC 7519, RFC 8725)")
struct SignedTokenTests {
    private static let claims = #"{"sub":"till","exp":2000000000}"#

    private func keyring(_ rows: [String], _ rules: TokenRules = TokenRules()) throws
        -> Keyring
    {
        let file = #"{"jwt":[\#(rows.joined(separator: ","))]}"#
        return try Keyring(keys: Array(file.utf8), keySet: nil, rules: rules)
    }

    private func fault(_ token: String, _ keyring: Keyring) -> TokenFault? {
        let error = thrown { () throws(AccessError) in
            _ = try keyring.token(Array(token.utf8)).verify()
        }
        if case .refusedToken(let fault) = error { return fault }
        return nil
    }

    @Test(
        "a claim that is wrong or missing is named for whoever made the token",
        arguments: [
            (#"{"sub":"a"}"#, "`exp` is missing: a token must have an end"),
            (#"{"exp":"soon"}"#, "`exp` must be a number"),
            (#"{"exp":2000000000,"nbf":null}"#, "`nbf` must be a number"),
            (#"{"exp":2000000000,"belfry":{"roles":[]}}"#, "`belfry/roles` is not known"),
            (#"{"exp":2000000000}"#, "`iss` is missing, and --jwt-issuer asks for one"),
            (#"{"exp":2000000000,"iss":"x"}"#, "`iss` is none of --jwt-issuer"),
            (
                #"{"exp":2000000000,"iss":"us"}"#,
                "`aud` is missing, and --jwt-audience asks for one"
            ),
            (#"{"exp":2000000000,"iss":"us","aud":"x"}"#, "`aud` has none of --jwt-audience"),
            ("[]", "its claims are not a JSON object"),
        ])
    func claimFault(claims: String, sentence: String) throws {
        var rules = TokenRules()
        rules.audiences = ["belfry"]
        rules.issuers = ["us"]
        let signer = Signer.hmac(kid: "k")
        let token = signer.token(header: #"{"alg":"HS256","kid":"k"}"#, claims: claims)
        #expect(
            try keyring([signer.row], rules).token(Array(token.utf8)).claimFault == sentence)
    }

    @Test("a token of each kind of key is taken", arguments: ["HS256", "RS256", "ES256", "EdDSA"])
    func algorithms(name: String) throws {
        let signer =
            switch name {
            case "HS256": Signer.hmac(kid: "k")
            case "RS256": try Signer.rsa(kid: "k")
            case "ES256": Signer.ecdsa(kid: "k")
            default: Signer.eddsa(kid: "k")
            }
        let keyring = try keyring([signer.row])
        for kid in [#","kid":"k""#, ""] {
            let claims = """
                {"sub":"till","exp":2000000000,"nbf":1500000000.5,"belfry":{"grants":[
                {"verbs":["post"],"names":["Sale*"],"objects":["till:1"],"centers":["shop"]}]}}
                """
            let token = signer.token(
                header: #"{"alg":"\#(name)","typ":"JWT"\#(kid)}"#, claims: claims)
            let caller = try keyring.token(Array(token.utf8)).verify()
            #expect(caller.principal == Array("till".utf8))
            #expect(caller.expiresAt == 2_000_000_000_000)
            #expect(caller.validFrom == 1_500_000_000_500 - 2_000)
            #expect(!caller.isAnonymous)
            #expect(keyring.stillHas(caller))
            let shop = Array("shop".utf8)
            let (sale, till) = (Array("SaleMade".utf8), Array("till:1".utf8))
            #expect(caller.grants.allow(.post, center: shop, name: sale, object: till))
            #expect(!caller.grants.allow(.post, center: shop, name: sale, object: nil))
            #expect(!caller.grants.allow(.observe, center: shop, name: sale, object: till))
            // Every ninth place: that is each of the four places of a group of Base64, in its turn.
            for (number, place) in zip(0..., token.indices) where number % 9 == 0 {
                guard token[place] != "." else { continue }
                var bad = token
                bad.replaceSubrange(place...place, with: token[place] == "A" ? "B" : "A")
                let fault = fault(bad, keyring)
                #expect(fault != nil, "\(bad)")
            }
        }
    }

    @Test("a header that names no algorithm, none, another one, or wants more is refused")
    func headers() throws {
        let signer = Signer.hmac()
        let keyring = try keyring([signer.row])
        let rows: [(String, TokenFault)] = [
            (#"{"alg":"none"}"#, .algorithm), (#"{"alg":"None","kid":"h"}"#, .algorithm),
            (#"{"kid":"h"}"#, .algorithm), (#"{"alg":"HS512","kid":"h"}"#, .algorithm),
            (#"{"alg":"hs256","kid":"h"}"#, .algorithm),
            (#"{"alg":"RS256","kid":"h"}"#, .algorithm), (#"{"alg":"ES256"}"#, .unknownKey),
            (#"{"alg":"HS256","kid":"x"}"#, .unknownKey),
            (#"{"alg":"HS256","kid":""}"#, .unknownKey),
            (#"{"alg":"HS256","kid":"h","crit":["b64"],"b64":false}"#, .critical),
            (#"{"alg":"HS256","kid":"h","typ":"dpop+jwt"}"#, .type),
            (#"{"alg":"HS256","kid":"h","alg":"none"}"#, .malformed),
            (#"{"alg":1}"#, .malformed), ("[]", .malformed), ("{", .malformed), ("", .malformed),
        ]
        for (header, wanted) in rows {
            let token = signer.token(header: header, claims: Self.claims)
            let found = fault(token, keyring)
            #expect(found == wanted, "\(header)")
        }
        let good = signer.token(header: #"{"alg":"HS256","kid":"h"}"#, claims: Self.claims)
        #expect(fault(good, keyring) == nil)
        let parts = good.split(separator: ".").map(String.init)
        for bad in [
            "", ".", "..", good + ".", "." + good, good + "=", parts[0] + "." + parts[1] + ".",
            parts[0] + "." + parts[1], good + "A", good.replacingOccurrences(of: ".", with: " "),
        ] {
            #expect(fault(bad, keyring) != nil, "\(bad)")
        }
    }

    @Test("a public key is no secret: a token that is signed with its text is refused")
    func confusion() throws {
        let rsa = try Signer.rsa(kid: "r")
        let keyring = try keyring([rsa.row])
        let pem = try Signer.fixture("rsa-public.pem")
        for text in [pem, pem.trimmingCharacters(in: .newlines)] {
            let forger = Signer.hmac(secret: Data(text.utf8))
            let token = forger.token(
                header: #"{"alg":"HS256","kid":"r"}"#, claims: Self.claims)
            #expect(fault(token, keyring) == .algorithm)
        }
        let forger = Signer.hmac(secret: Data(pem.utf8))
        let unnamed = forger.token(header: #"{"alg":"HS256"}"#, claims: Self.claims)
        #expect(fault(unnamed, keyring) == .unknownKey)
    }

    @Test("another broker with the same keys knows a caller by what is not secret of a token")
    func shown() throws {
        let keyring = try keyring([Signer.hmac(kid: "k").row])
        let token = Array(
            Signer.hmac(kid: "k").token(header: #"{"alg":"HS256","kid":"k"}"#, claims: Self.claims)
                .utf8)
        let caller = try keyring.token(token).verify()
        let shown = Keyring.shown(token, by: caller)
        #expect(token.starts(with: shown + Array(".".utf8)))
        #expect(shown.filter { $0 == UInt8(ascii: ".") }.count == 1)
        let known = try keyring.caller(byShown: shown)
        #expect(known.principal == caller.principal)
        #expect(known.grants == caller.grants)
        #expect(known.expiresAt == caller.expiresAt)
        #expect(keyring.stillHas(known))
        // The shown part is not a credential.
        #expect(fault(String(decoding: shown, as: UTF8.self), keyring) == .malformed)
        #expect(fault(String(decoding: shown, as: UTF8.self) + ".", keyring) == .signature)
        let others = try self.keyring([Signer.hmac(kid: "other").row])
        let error = thrown { () throws(AccessError) in _ = try others.caller(byShown: shown) }
        #expect(error == .refusedToken(.unknownKey))
    }

    @Test("a key may be left unnamed only where there is no choice")
    func unnamed() throws {
        let first = Signer.hmac(kid: "a")
        let second = Signer.hmac(
            kid: "b", secret: Data("another secret that is long enough".utf8))
        let token = first.token(header: #"{"alg":"HS256"}"#, claims: Self.claims)
        #expect(fault(token, try keyring([first.row])) == nil)
        #expect(fault(token, try keyring([first.row, second.row])) == .unknownKey)
    }

    @Test("claims that are missing, of another kind, or for others are refused")
    func claims() throws {
        var rules = TokenRules()
        rules.audiences = ["belfry", "bells"]
        rules.issuers = ["https://id.example"]
        let signer = Signer.hmac()
        let strict = try keyring([signer.row], rules)
        let open = try keyring([signer.row])
        let end = #""exp":2000000000"#
        let iss = #""iss":"https://id.example""#
        let rows: [(String, TokenFault?, Keyring)] = [
            (#"{\#(end),\#(iss),"aud":"belfry"}"#, nil, strict),
            (#"{\#(end),\#(iss),"aud":["x","bells"]}"#, nil, strict),
            (#"{\#(end),\#(iss),"aud":"other"}"#, .audience, strict),
            (#"{\#(end),\#(iss),"aud":[]}"#, .audience, strict),
            (#"{\#(end),\#(iss)}"#, .audience, strict),
            (#"{\#(end),"iss":"https://evil.example","aud":"belfry"}"#, .issuer, strict),
            (#"{\#(end),"aud":"belfry"}"#, .issuer, strict),
            (#"{\#(end),"aud":"belfry"}"#, .audience, open), (#"{\#(end)}"#, nil, open),
            (#"{\#(end),"sub":"anonymous"}"#, .claims, open),
            (#"{\#(end),"sub":"broker"}"#, .claims, open), (#"{\#(end),"sub":""}"#, .claims, open),
            (#"{\#(end),"sub":"a\u0000"}"#, .claims, open), (#"{\#(end),"sub":7}"#, .claims, open),
            (#"{}"#, .claims, open), (#"{"exp":"2000000000"}"#, .claims, open),
            (#"{"exp":1e300}"#, .claims, open), (#"{\#(end),"exp":1}"#, .claims, open),
            (#"{\#(end),"nbf":null}"#, .claims, open), ("[]", .claims, open), ("", .claims, open),
            (#"{\#(end),"belfry":{"grants":[{"verbs":["fly"]}]}}"#, .claims, open),
            (#"{\#(end),"belfry":{"grants":[{"names":["a"]}]}}"#, .claims, open),
            (#"{\#(end),"belfry":{"roles":[]}}"#, .claims, open),
        ]
        for (claims, wanted, keyring) in rows {
            let token = signer.token(header: #"{"alg":"HS256","kid":"h"}"#, claims: claims)
            let found = fault(token, keyring)
            #expect(found == wanted, "\(claims)")
        }
    }

    @Test("times are judged with each use: a token that has expired is none, nor one too early")
    func times() throws {
        let signer = Signer.hmac()
        let keyring = try keyring([signer.row])
        let token = signer.token(
            header: #"{"alg":"HS256"}"#, claims: #"{"exp":2000,"nbf":1000}"#)
        let caller = try keyring.token(Array(token.utf8)).verify()
        #expect(caller.principal == Array("jwt:h".utf8))
        #expect(caller.fault(at: 997_999) == .notYetValid)
        #expect(caller.fault(at: 998_000) == nil)
        #expect(caller.fault(at: 1_999_999) == nil)
        #expect(caller.fault(at: 2_000_000) == .expired)
    }

    @Test("a token of 8 KiB is looked at, and one that is a byte longer is not")
    func length() throws {
        let signer = Signer.hmac()
        let keyring = try keyring([signer.row])
        func token(_ padding: Int) throws -> String {
            let pad = String(repeating: "x", count: padding)
            return signer.token(
                header: #"{"alg":"HS256"}"#, claims: #"{"exp":2000000000,"pad":"\#(pad)"}"#)
        }
        let longest = try (6_000..<6_200).map(token).filter { $0.utf8.count <= 8_192 }
            .max { $0.count < $1.count }
        #expect(try #require(longest).utf8.count == 8_192)
        #expect(fault(try #require(longest), keyring) == nil)
        let longer = try (6_000..<6_200).map(token).first { $0.utf8.count > 8_192 }
        #expect(fault(try #require(longer), keyring) == .tooLong)
    }

    @Test("keys of a set are found by kid; those for other uses or of other kinds are passed by")
    func keySet() throws {
        let set = #"""
            {"keys":[
            {"kty":"oct","kid":"h","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY","alg":"HS256",
             "use":"sig","key_ops":["verify"]},
            {"kty":"oct","kid":"x","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY","use":"enc"},
            {"kty":"oct","kid":"y","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY","alg":"A256GCM"},
            {"kty":"EC","crv":"secp256k1","kid":"p","x":"AA","y":"AA"},{"kty":"new"},
            {"kty":"OKP","crv":"Ed25519","kid":"rfc8037",
             "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
            {"kty":"RSA","kid":"rfc7515","e":"AQAB",
             "n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"}
            ],"extra":1}
            """#
        let keyring = try Keyring(keys: nil, keySet: Array(set.utf8))
        #expect(keyring.tokenKeyCount == 3)
        let signer = Signer.hmac()
        func token(_ kid: String) throws -> String {
            signer.token(header: #"{"alg":"HS256","kid":"\#(kid)"}"#, claims: Self.claims)
        }
        #expect(fault(try token("h"), keyring) == nil)
        for kid in ["x", "y", "p"] { #expect(fault(try token(kid), keyring) == .unknownKey) }
        // The example of RFC 8037 appendix A.4, whose payload is no JSON.
        let eddsa = """
            eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-\
            09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg
            """
        #expect(fault(eddsa, keyring) == .claims)
        #expect(fault(String(eddsa.dropLast(2)) + "AA", keyring) == .signature)
    }
}
