/// A field that decides about the request itself, found by whole words instead of bytes.
enum KnownName {
    case host, expect, upgrade, connection, contentType, contentLength, transferEncoding

    /// Looks at the name of a field, which was found to be a token.
    ///
    /// Setting the bit of lower case changes no letter, digit or hyphen into another one, and
    /// behind each name stand at least eight bytes: a colon, CRLF, CRLF and the name itself.
    init?(_ field: FieldRange, in text: Span<UInt8>) {
        let length = Int(field.nameEnd &- field.nameStart)
        let lowerCase: UInt64 = 0x2020_2020_2020_2020
        let first = text.word(at: Int(field.nameStart)) | lowerCase
        switch length {
        case 4 where first << 32 == 0x0000_0000_7473_6F68 << 32: self = .host
        case 6 where first << 16 == 0x0000_7463_6570_7865 << 16: self = .expect
        case 7 where first << 8 == 0x0065_6461_7267_7075 << 8: self = .upgrade
        case 10, 12, 14, 17:
            let last = text.word(at: Int(field.nameEnd) &- 8) | lowerCase
            switch (length, first, last) {
            // connecti, nnection
            case (10, 0x6974_6365_6E6E_6F63, 0x6E6F_6974_6365_6E6E): self = .connection
            // content-, ent-type
            case (12, 0x2D74_6E65_746E_6F63, 0x6570_7974_2D74_6E65): self = .contentType
            // content-, t-length
            case (14, 0x2D74_6E65_746E_6F63, 0x6874_676E_656C_2D74): self = .contentLength
            // transfer, encoding, and the hyphen between them
            case (17, 0x7265_6673_6E61_7274, 0x676E_6964_6F63_6E65)
            where text[Int(field.nameStart) &+ 8] == 0x2D:
                self = .transferEncoding
            default: return nil
            }
        default: return nil
        }
    }
}
