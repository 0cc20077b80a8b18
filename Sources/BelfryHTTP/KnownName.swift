import BelfryBytes

/// A field that decides about the request itself, found by whole words instead of bytes.
enum KnownName: Equatable {
    case host, expect, connection, contentType, contentLength, transferEncoding
    case origin, fetchSite, prefer, idempotencyKey, authorization, contentEncoding
    case forwarding(ForwardingField)
    /// Any other name.
    case other

    /// Looks for the names of nearly each request, with a colon, at the start of a line.
    ///
    /// The masks set the bit of lower case in letters alone, so the bytes are exactly those.
    @inline(__always)
    init?(lineStart: Int, in text: Span<UInt8>) {
        let first = text.word(at: lineStart)
        // host:
        if (first | 0x2020_2020) << 24 == 0x3A_7473_6F68 << 24 {
            self = .host
            return
        }
        // content-
        guard first | 0x0020_2020_2020_2020 == 0x2D74_6E65_746E_6F63 else { return nil }
        let second = text.word(at: lineStart &+ 8)
        // type:, length:
        if (second | 0x2020_2020) << 24 == 0x3A_6570_7974 << 24 {
            self = .contentType
        } else if (second | 0x2020_2020_2020) << 8 == 0x3A_6874_676E_656C << 8 {
            self = .contentLength
        } else {
            return nil
        }
    }

    /// The length of a name that `init(lineStart:in:)` finds.
    @inline(__always)
    var byteCount: Int {
        self == .host ? 4 : self == .contentType ? 12 : 14
    }

    /// Looks at the name of a field, which was found to be a token.
    ///
    /// Setting the bit of lower case changes no letter, digit or hyphen into another one, and at
    /// least eight bytes follow each name: a colon, CRLF, CRLF and the name itself.
    init(_ name: Range<Int>, in text: Span<UInt8>) {
        let length = name.count
        let lowerCase: UInt64 = 0x2020_2020_2020_2020
        let first = text.word(at: name.lowerBound) | lowerCase
        switch length {
        case 4 where first << 32 == 0x0000_0000_7473_6F68 << 32: self = .host
        case 6 where first << 16 == 0x0000_7463_6570_7865 << 16: self = .expect
        case 6 where first << 16 == 0x0000_6E69_6769_726F << 16: self = .origin
        case 6 where first << 16 == 0x0000_7265_6665_7270 << 16: self = .prefer
        case 10, 12, 13, 14, 15, 16, 17:
            let last = text.word(at: name.upperBound &- 8) | lowerCase
            switch (length, first, last) {
            // connecti, nnection
            case (10, 0x6974_6365_6E6E_6F63, 0x6E6F_6974_6365_6E6E): self = .connection
            // content-, ent-type
            case (12, 0x2D74_6E65_746E_6F63, 0x6570_7974_2D74_6E65): self = .contentType
            // authoriz, rization
            case (13, 0x7A69_726F_6874_7561, 0x6E6F_6974_617A_6972): self = .authorization
            // content-, t-length
            case (14, 0x2D74_6E65_746E_6F63, 0x6874_676E_656C_2D74): self = .contentLength
            // sec-fetc, tch-site
            case (14, 0x6374_6566_2D63_6573, 0x6574_6973_2D68_6374): self = .fetchSite
            // idempote, ency-key
            case (15, 0x6574_6F70_6D65_6469, 0x7965_6B2D_7963_6E65): self = .idempotencyKey
            // content-, encoding
            case (16, 0x2D74_6E65_746E_6F63, 0x676E_6964_6F63_6E65): self = .contentEncoding
            // transfer, encoding, and the hyphen between them
            case (17, 0x7265_6673_6E61_7274, 0x676E_6964_6F63_6E65)
            where text[name.lowerBound &+ 8] == 0x2D:
                self = .transferEncoding
            default: self.init(uncommon: name, first, in: text)
            }
        default: self.init(uncommon: name, first, in: text)
        }
    }

    /// Looks at a name that a request has when a proxy has passed it on, or one of its own.
    private init(uncommon name: Range<Int>, _ first: UInt64, in text: Span<UInt8>) {
        self = ForwardingField(name, first: first, in: text).map { .forwarding($0) } ?? .other
    }
}
