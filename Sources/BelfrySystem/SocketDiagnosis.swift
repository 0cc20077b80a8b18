/// Questions to the kernel about one socket, and its answers (sock_diag(7)).
///
/// All numbers are in the byte order of the machine but ports and addresses, which are in that of
/// the network.
enum SocketDiagnosis {
    /// The longest answer that is read, in bytes; one about a TCP socket has about 124.
    static let answerByteLimit = 1024

    /// `SOCK_DIAG_BY_FAMILY` and `NLMSG_ERROR` (linux/sock_diag.h, linux/netlink.h).
    private static let kindOfQuestion: UInt16 = 20
    private static let kindOfError: UInt16 = 2
    private static let headByteCount = 16
    /// The bytes of `inet_diag_req_v2` and of `inet_diag_msg` (linux/inet_diag.h).
    private static let questionByteCount = 56
    private static let answerByteCount = 72

    /// Asks for the client's socket of a pair, and for no other one.
    static func question(about pair: SocketPair, number: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headByteCount + questionByteCount)
        append(UInt32(headByteCount + questionByteCount), to: &bytes)
        append(kindOfQuestion, to: &bytes)
        // NLM_F_REQUEST, without NLM_F_DUMP: the one socket.
        append(UInt16(1), to: &bytes)
        append(number, to: &bytes)
        append(UInt32(0), to: &bytes)
        // AF_INET6 or AF_INET, IPPROTO_TCP, no extensions, all states.
        bytes += [pair.client.isIPv6 ? 10 : 2, 6, 0, 0]
        append(UInt32.max, to: &bytes)
        bytes += ports(of: pair)
        appendAddress(pair.client, to: &bytes)
        appendAddress(pair.server, to: &bytes)
        // The index of `lo`: without it a socket that is bound to that device is not found.
        append(UInt32(1), to: &bytes)
        // INET_DIAG_NOCOOKIE.
        append(UInt64.max, to: &bytes)
        return bytes
    }

    /// Reads an answer; nil where it is none to this question.
    static func owner(
        in answer: Span<UInt8>, of pair: SocketPair, number: UInt32
    ) -> SocketOwner? {
        guard answer.count >= headByteCount + 4, read(UInt32.self, at: 8, of: answer) == number
        else { return nil }
        let kind = read(UInt16.self, at: 4, of: answer)
        if kind == kindOfError { return .nobody }
        let byteCount = Int(read(UInt32.self, at: 0, of: answer))
        guard kind == kindOfQuestion, byteCount >= headByteCount + answerByteCount,
            byteCount <= answer.count
        else { return nil }
        let body = answer.extracting(droppingFirst: headByteCount)
        let ports = ports(of: pair)
        // Where the socket is gone the kernel finds one that listens at its port.
        for index in ports.indices where body[4 + index] != ports[index] { return .nobody }
        return SocketOwner(
            state: body[1], user: read(UInt32.self, at: 64, of: body),
            inode: read(UInt32.self, at: 68, of: body))
    }

    /// The ports as the network writes them, that of the client first.
    private static func ports(of pair: SocketPair) -> [UInt8] {
        [pair.client.port, pair.server.port].flatMap {
            [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)]
        }
    }

    /// Appends the 16 bytes of an address; one of IPv4 has the first four.
    private static func appendAddress(_ address: SocketAddress, to bytes: inout [UInt8]) {
        let (high, low) = address.bits
        var words = [high, low]
        if !address.isIPv6 { words = [low << 32, 0] }
        for word in words {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
            }
        }
    }

    private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        let number = number.littleEndian
        for place in 0..<number.bitWidth / 8 {
            bytes.append(UInt8(truncatingIfNeeded: number >> (8 * place)))
        }
    }

    /// Reads a number as the machine writes it.
    private static func read<Number: FixedWidthInteger>(
        _ type: Number.Type, at start: Int, of bytes: Span<UInt8>
    ) -> Number {
        var number: Number = 0
        for place in 0..<Number.bitWidth / 8 {
            number |= Number(bytes[start + place]) << (8 * place)
        }
        return Number(littleEndian: number)
    }
}
