import BelfryAccess
import BelfryJSON

/// Keys, tokens, and what proxies say.
///
/// Nothing of it comes in pieces, so what is compared is what other readers make of the same bytes.
enum AccessChecks {
    static func keyFile(_ bytes: [UInt8]) -> String? {
        file(bytes) { bytes throws(AccessError) in _ = try KeyFile(bytes) }
    }

    static func keySet(_ bytes: [UInt8]) -> String? {
        file(bytes) { bytes throws(AccessError) in _ = try KeySetFile(bytes) }
    }

    /// Checks that an accepted file is JSON, also with white space around it.
    ///
    /// The fault of a refused file names a line that the file has.
    private static func file(
        _ bytes: [UInt8], _ read: ([UInt8]) throws(AccessError) -> Void
    ) -> String? {
        let lineCount = 1 + bytes.count(where: { $0 == UInt8(ascii: "\n") })
        do throws(AccessError) {
            try read(bytes)
        } catch {
            switch error {
            case .malformedFile(let line), .invalidFile(_, let line, _):
                if !(1...lineCount).contains(line) { return "a line that the file has not" }
            case .refusedToken: return "a file is no token"
            }
            return error.sentence.isEmpty ? "a fault without a sentence" : nil
        }
        if !isJSON(bytes) { return "a file that is no JSON" }
        do throws(AccessError) {
            try read(Array(" \n".utf8) + bytes + Array("\r\n".utf8))
        } catch {
            return "white space makes another file of it: \(error)"
        }
        return nil
    }

    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        do throws(JSONError) {
            _ = try JSONScanner.validate(bytes.span, depthLimit: 64)
            return true
        } catch {
            return false
        }
    }

    /// The bytes are a token, and also the claims of one, which are hard to reach through base 64.
    static func token(_ bytes: [UInt8]) -> String? {
        if let fault = claims(bytes) { return fault }
        let token: CompactToken
        do throws(AccessError) {
            token = try CompactToken(bytes)
        } catch {
            guard case .refusedToken = error else { return "a token is no file" }
            return nil
        }
        guard bytes.starts(with: token.signed), bytes.count > token.signed.count,
            bytes[token.signed.count] == UInt8(ascii: ".")
        else { return "something else is signed than what came" }
        // Each text of base 64 has other bytes, so another text is another token.
        if bytes.contains(UInt8(ascii: "=")) { return "padding" }
        return claims(token.payload)
    }

    private static func claims(_ bytes: [UInt8]) -> String? {
        let claims: TokenClaims
        do throws(AccessError) {
            claims = try TokenClaims(bytes)
        } catch {
            return nil
        }
        if !isJSON(bytes) { return "claims that are no JSON" }
        var rules = TokenRules()
        let fault = claims.fault(under: rules)
        rules.issuers = ["issuer"]
        rules.audiences = ["audience"]
        // Stricter rules must not accept more.
        let stricter = claims.fault(under: rules)
        if fault == .claims, stricter != .claims { return "rules hide a fault" }
        return nil
    }

    /// Reads the first line as a key set, the rest as a token; no other bytes may be accepted.
    static func signature(_ bytes: [UInt8]) -> String? {
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
        let keyring: Keyring
        do throws(AccessError) {
            keyring = try Keyring(keys: nil, keySet: Array(bytes[..<end]))
        } catch {
            if case .refusedToken = error { return "a file is no token" }
            return nil
        }
        var token = Array(bytes[end...].dropFirst())
        guard let caller = caller(token, keyring) else { return nil }
        guard keyring.stillHas(caller), self.caller(token, keyring)?.principal == caller.principal
        else { return "another caller the second time" }
        for place in stride(from: 0, to: token.count, by: 16) {
            token[place] ^= 1
            if self.caller(token, keyring) != nil { return "byte \(place) counts for nothing" }
            token[place] ^= 1
        }
        return nil
    }

    private static func caller(_ token: [UInt8], _ keyring: Keyring) -> Caller? {
        do throws(AccessError) {
            return try keyring.token(token).verify()
        } catch {
            return nil
        }
    }

    private static let trusted = Network("10.0.0.0/8")
    private static let proxy = NetworkAddress(ipv4: 0x0A00_0001)
    private static let stranger = NetworkAddress(ipv4: 0xC000_0201)

    /// A line for each field; every address can be written and read again.
    static func forwarding(_ bytes: [UInt8]) -> String? {
        guard let trusted else { return "10.0.0.0/8 is no network" }
        var fields = ForwardingFields()
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            switch number % 4 {
            case 0: fields.forwarded.append(Array(line))
            case 1: fields.forwardedFor.append(Array(line))
            case 2: fields.forwardedProto.append(Array(line))
            default: fields.forwardedHost.append(Array(line))
            }
            if let fault = address(line) { return fault }
        }
        let policy = ProxyPolicy(trusted: [trusted])
        let unlisted = RequestOrigin(address: stranger, isSecure: true)
        guard policy.origin(of: unlisted, fields) == unlisted else {
            return "a peer that is not listed is believed"
        }
        let origin = policy.origin(of: RequestOrigin(address: proxy), fields)
        guard origin == policy.origin(of: RequestOrigin(address: proxy), fields) else {
            return "the same fields say something else the second time"
        }
        if let fault = address(Array(origin.address.description.utf8)[...]) { return fault }
        return NetworkAddress(origin.address.description.utf8) == origin.address
            ? nil : "an origin that cannot be written"
    }

    private static func address(_ text: ArraySlice<UInt8>) -> String? {
        _ = Network(String(decoding: text, as: UTF8.self))
        guard let address = NetworkAddress(text) else { return nil }
        if NetworkAddress(address.description.utf8) != address { return "another address" }
        guard let network = Network(address.description), network.contains(address) else {
            return "an address outside of itself"
        }
        return address.counted.counted == address.counted ? nil : "counted as two"
    }
}
