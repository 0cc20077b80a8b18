/// A request method (RFC 9110 §9); methods are case-sensitive.
public enum HTTPMethod: Sendable, Equatable {
    /// GET: transfer a representation.
    case get
    /// HEAD: as GET without the content.
    case head
    /// POST: let the resource process the content.
    case post
    /// PUT: replace the representation.
    case put
    /// DELETE: remove the resource's representations.
    case delete
    /// PATCH: change the representation (RFC 5789).
    case patch
    /// OPTIONS: ask for the options of communication.
    case options
    /// TRACE: loop the message back.
    case trace
    /// CONNECT: make a tunnel.
    case connect
    /// Any other token; its bytes stay in the head.
    case other

    init(_ name: Span<UInt8>) {
        switch name.count {
        case 3: self = name.equals("GET") ? .get : name.equals("PUT") ? .put : .other
        case 4: self = name.equals("POST") ? .post : name.equals("HEAD") ? .head : .other
        case 5: self = name.equals("PATCH") ? .patch : name.equals("TRACE") ? .trace : .other
        case 6: self = name.equals("DELETE") ? .delete : .other
        case 7:
            self = name.equals("OPTIONS") ? .options : name.equals("CONNECT") ? .connect : .other
        default: self = .other
        }
    }

    /// The usual methods with the space behind them, found in the first eight bytes of a line.
    @inline(__always)
    static func prefix(of word: UInt64) -> (method: HTTPMethod, byteCount: Int)? {
        if word << 24 == 0x20_5453_4F50 << 24 { return (.post, 4) }
        if word << 32 == 0x2054_4547 << 32 { return (.get, 3) }
        if word << 32 == 0x2054_5550 << 32 { return (.put, 3) }
        if word << 8 == 0x20_4554_454C_4544 << 8 { return (.delete, 6) }
        return nil
    }

    /// The method as written in a request line; `nil` for `.other`.
    public var name: String? {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .delete: "DELETE"
        case .patch: "PATCH"
        case .options: "OPTIONS"
        case .trace: "TRACE"
        case .connect: "CONNECT"
        case .other: nil
        }
    }
}
