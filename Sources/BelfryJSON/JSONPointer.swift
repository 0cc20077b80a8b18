/// The way to a value inside a JSON text, in the form of a URI fragment (RFC 6901 §6).
public struct JSONPointer: Equatable, Hashable, Sendable, CustomStringConvertible {
    /// The pointer to the whole text, `#`.
    public static let root = JSONPointer()

    /// The fragment, `#/2/style`, in ASCII.
    public private(set) var bytes: [UInt8] = [UInt8(ascii: "#")]

    /// The fragment as text.
    public var description: String { String(decoding: bytes, as: UTF8.self) }

    /// The pointer to a member of the object that this one points to; `key` is UTF-8.
    public func appending(key: [UInt8]) -> JSONPointer {
        var pointer = self
        pointer.bytes.append(.slash)
        for byte in key { pointer.append(byte) }
        return pointer
    }

    /// The pointer to a member of the object that this one points to.
    public func appending(key: String) -> JSONPointer {
        appending(key: [UInt8](key.utf8))
    }

    /// The pointer to an element of the array that this one points to.
    public func appending(index: Int) -> JSONPointer {
        var pointer = self
        pointer.bytes.append(.slash)
        JSONWriter.append(integer: index, to: &pointer.bytes)
        return pointer
    }

    /// The pointer to a value within the one that this one points to, by an unescaped JSON Pointer.
    public func appending(_ pointer: String) -> JSONPointer {
        var result = self
        for byte in pointer.utf8 {
            if Self.isAllowedInFragment(byte) || byte == .slash {
                result.bytes.append(byte)
            } else {
                result.append(byte)
            }
        }
        return result
    }

    /// Appends a byte of a key: first the escapes of RFC 6901 §3, then those of a URI fragment.
    private mutating func append(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "~"):
            bytes.append(contentsOf: "~0".utf8)
        case .slash:
            bytes.append(contentsOf: "~1".utf8)
        case _ where Self.isAllowedInFragment(byte):
            bytes.append(byte)
        default:
            bytes.append(UInt8(ascii: "%"))
            bytes.append((byte >> 4).lowHexDigit)
            bytes.append(byte.lowHexDigit)
        }
    }

    /// Whether a byte needs no escape in a fragment (RFC 3986 §3.5).
    private static func isAllowedInFragment(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            .zero ... .nine,
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
            UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"),
            UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: ":"),
            UInt8(ascii: "@"), UInt8(ascii: "/"), UInt8(ascii: "?"):
            true
        default:
            false
        }
    }
}
