/// A field by which a proxy shows that it has passed a request on.
public enum ForwardingField: Sendable {
    /// Forwarded (RFC 7239 §4), and names that begin so.
    case forwarded
    /// X-Forwarded-For and all others whose names begin so.
    case commonForwarded
    /// X-Real-IP.
    case realAddress
    /// Via (RFC 9110 §7.6.3).
    case via
    /// CF-Connecting-IP and all others of Cloudflare.
    case cloudflare

    /// The name; for several names with the same start, that start and `*`.
    public var text: String {
        switch self {
        case .forwarded: "Forwarded"
        case .commonForwarded: "X-Forwarded-*"
        case .realAddress: "X-Real-IP"
        case .via: "Via"
        case .cloudflare: "CF-*"
        }
    }

    /// Looks at the name of a field, which was found to be a token; `first` is its first word in
    /// lower case, with what follows where the name is shorter.
    @inline(__always)
    init?(_ name: Range<Int>, first: UInt64, in text: Span<UInt8>) {
        switch first {
        // forwarde, x-forwar, x-real-i
        case 0x6564_7261_7772_6F66
        where name.count >= 9 && text[name.lowerBound &+ 8] | 0x20 == 0x64:
            self = .forwarded
        case 0x7261_7772_6F66_2D78 where Self.endsAsForwarded(name, in: text):
            self = .commonForwarded
        case 0x692D_6C61_6572_2D78
        where name.count == 9 && text[name.lowerBound &+ 8] | 0x20 == 0x70:
            self = .realAddress
        default:
            // via, cf-
            let start = first << 40
            if name.count == 3, start == 0x0061_6976 << 40 {
                self = .via
            } else if name.count > 3, start == 0x002D_6663 << 40 {
                self = .cloudflare
            } else {
                return nil
            }
        }
    }

    /// Whether `ded` follows what `X-Forwarded` begins with.
    private static func endsAsForwarded(_ name: Range<Int>, in text: Span<UInt8>) -> Bool {
        name.count >= 11 && text.extracting(name).extracting(8..<11).equalsIgnoringCase("ded")
    }
}
