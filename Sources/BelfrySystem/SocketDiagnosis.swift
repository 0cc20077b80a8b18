/// Questions to the kernel about one socket, and its answers (sock_diag(7)).
///
/// All numbers are in the byte order of the machine but ports and addresses, which are in that of
/// the network.
enum SocketDiagnosis {
    /// The longest answer that is read, in bytes; one about a TCP socket has about 124.
    static let answerByteLimit = 256

    /// `SOCK_DIAG_BY_FAMILY` and `NLMSG_ERROR` (linux/sock_diag.h, linux/netlink.h).
    private static let kindOfQuestion: UInt16 = 20
    private static let kindOfError: UInt16 = 2
    private static let headByteCount = 16
    /// The bytes of `inet_diag_req_v2` and of `inet_diag_msg` (linux/inet_diag.h).
    private static let questionByteCount = 56
    private static let answerByteCount = 72

    /// Asks for the client's socket of a pair, and for no other one.
    static func question(about pair: SocketPair, number: UInt32) -> InlineArray<18, UInt32> {
        let (client, server) = (words(of: pair.client), words(of: pair.server))
        // AF_INET6 or AF_INET, and IPPROTO_TCP.
        let family: UInt32 = pair.client.isIPv6 ? 10 : 2
        return [
            UInt32(headByteCount + questionByteCount),
            // NLM_F_REQUEST, without NLM_F_DUMP: the one socket.
            UInt32(kindOfQuestion) | 1 << 16,
            number, 0,
            // No extensions, all states.
            family | 6 << 8, .max,
            ports(of: pair),
            client.0, client.1, client.2, client.3, server.0, server.1, server.2, server.3,
            // The index of `lo`: without it a socket that is bound to that device is not found.
            1,
            // INET_DIAG_NOCOOKIE.
            .max, .max,
        ]
    }

    /// Reads an answer; nil where it is none to this question.
    static func owner(
        in answer: Span<UInt8>, of pair: SocketPair, number: UInt32
    ) -> SocketOwner? {
        guard answer.count >= headByteCount + 4, word(at: 8, of: answer) == number
        else { return nil }
        let kind = UInt16(truncatingIfNeeded: word(at: 4, of: answer))
        if kind == kindOfError { return .nobody }
        let byteCount = Int(word(at: 0, of: answer))
        guard kind == kindOfQuestion, byteCount >= headByteCount + answerByteCount,
            byteCount <= answer.count
        else { return nil }
        let body = answer.extracting(droppingFirst: headByteCount)
        // Where the socket is gone the kernel finds one that listens at its port.
        guard word(at: 4, of: body) == ports(of: pair) else { return .nobody }
        return SocketOwner(
            state: body[1], user: word(at: 64, of: body), inode: word(at: 68, of: body))
    }

    /// The ports as the network writes them, that of the client first.
    private static func ports(of pair: SocketPair) -> UInt32 {
        UInt32(pair.client.port.bigEndian) | UInt32(pair.server.port.bigEndian) << 16
    }

    /// The 16 bytes of an address; one of IPv4 has the first four.
    private static func words(of address: SocketAddress) -> (UInt32, UInt32, UInt32, UInt32) {
        let (high, low) = address.bits
        let last = UInt32(truncatingIfNeeded: low).bigEndian
        guard address.isIPv6 else { return (last, 0, 0, 0) }
        let first = UInt32(truncatingIfNeeded: high >> 32).bigEndian
        let second = UInt32(truncatingIfNeeded: high).bigEndian
        return (first, second, UInt32(truncatingIfNeeded: low >> 32).bigEndian, last)
    }

    /// Reads four bytes as a machine writes them whose lowest byte is the first, as all do that
    /// the broker is built for.
    private static func word(at start: Int, of bytes: Span<UInt8>) -> UInt32 {
        UInt32(bytes[start]) | UInt32(bytes[start + 1]) << 8 | UInt32(bytes[start + 2]) << 16
            | UInt32(bytes[start + 3]) << 24
    }
}
