/// A listing of all TCP sockets (`/proc/net/tcp`, proc(5)), for systems that answer no netlink.
enum SocketListing: Equatable {
    case ipv4, ipv6

    /// Where the kernel writes it.
    var path: String { self == .ipv4 ? "/proc/net/tcp" : "/proc/net/tcp6" }

    /// Finds the owner of the client's end of a pair; nil where no line is of it.
    ///
    /// A line without its end is none: the bytes may break off anywhere.
    func owner(of pair: SocketPair, in text: Span<UInt8>) -> SocketOwner? {
        let ends = Array("\(field(pair.client)) \(field(pair.server)) ".utf8)
        var start = 0
        for place in text.indices where text[place] == UInt8(ascii: "\n") {
            let line = text.extracting(start..<place)
            start = place + 1
            if let owner = owner(in: line, with: ends) { return owner }
        }
        return nil
    }

    /// Reads a line: number, both ends, state, queues, timer, retransmits, user, timeout, inode.
    private func owner(in line: Span<UInt8>, with ends: [UInt8]) -> SocketOwner? {
        guard let colon = (0..<line.count).first(where: { line[$0] == UInt8(ascii: ":") }),
            line.count > colon + 2 + ends.count
        else { return nil }
        for index in ends.indices where line[colon + 2 + index] != ends[index] { return nil }
        let rest = (colon + 2 + ends.count..<line.count).map { line[$0] }
        let words = rest.split(separator: UInt8(ascii: " "), maxSplits: 7)
        guard words.count >= 7, let state = UInt8(text(words[0]), radix: 16),
            let user = UInt32(text(words[4])), let inode = UInt32(text(words[6]))
        else { return nil }
        return SocketOwner(state: state, user: user, inode: inode)
    }

    private func text(_ word: ArraySlice<UInt8>) -> String { String(decoding: word, as: UTF8.self) }

    /// An end as the listing has it: words of 32 bits as the machine reads them, and the port.
    private func field(_ address: SocketAddress) -> String {
        let (high, low) = address.bits
        var words = [UInt32(truncatingIfNeeded: low)]
        if self == .ipv6 {
            let isMapped = !address.isIPv6
            words = [
                UInt32(truncatingIfNeeded: high >> 32), UInt32(truncatingIfNeeded: high),
                isMapped ? 0xFFFF : UInt32(truncatingIfNeeded: low >> 32), words[0],
            ]
        }
        let texts = words.map { digits(UInt64(UInt32(bigEndian: $0)), count: 8) }
        return texts.joined() + ":" + digits(UInt64(address.port), count: 4)
    }

    private func digits(_ number: UInt64, count: Int) -> String {
        let text = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: count - text.utf8.count) + text
    }
}
