internal import CBelfrySystem

/// A way to learn whose process has the other end of a connection within this machine.
///
/// It asks for one pair of addresses by netlink, which the kernel answers within the call that
/// asks. Where that does not work it reads the listing of all sockets, and of that no more than
/// `listingByteLimit`. One thread at a time uses it.
public final class SocketOwners {
    /// How the system says whose a socket is.
    public enum Means: Equatable, Sendable {
        /// By netlink (sock_diag(7)).
        case netlink
        /// By `/proc/net/tcp` and `/proc/net/tcp6`.
        case listing
        /// Not at all.
        case none
    }

    /// The way that works here: it has found this process itself.
    public let means: Means
    /// The descriptor by which the kernel is asked; negative where there is none.
    private let door: Int32
    /// Whether each user has a number here: in a namespace of users all that have none show as one.
    private let numbersAllUsers: Bool
    private var askedCount: UInt32 = 0

    /// The bytes of a listing that are read: about 1,700 sockets.
    ///
    /// The owner of a socket behind that is not found; the socket counts as without an owner.
    static let listingByteLimit = 256 << 10

    /// How many answers are looked through for the one that belongs to a question.
    private static let answerLimit = 4

    /// Finds out which way works, by a connection of this process to itself.
    ///
    /// The kernel may load a module for that, so a program makes one before it serves.
    ///
    /// - Parameter candidates: the ways that are tried, the best one first.
    public init(_ candidates: [Means] = [.netlink, .listing]) {
        door = candidates.contains(.netlink) ? belfry_diagnosis_open() : -1
        means = Self.firstThatWorks(of: candidates, door)
        let map = (try? WholeFile.readBeginning(path: "/proc/self/uid_map", byteLimit: 256)) ?? []
        numbersAllUsers = map.isEmpty || Self.numbersAllUsers(map)
    }

    deinit {
        if door >= 0 { belfry_close(door) }
    }

    /// The owner of the client's end of a connection.
    public func owner(of pair: SocketPair) -> SocketOwner {
        askedCount &+= 1
        var owner = SocketOwner.nobody
        switch means {
        case .netlink:
            owner = Self.ask(door, about: pair, askedCount) ?? .nobody
        case .listing:
            if case .owner(let found) = Self.look(up: pair) { owner = found }
        case .none: owner = .untold
        }
        return owner == .user(Self.userWithoutNumber) && !numbersAllUsers ? .nobody : owner
    }

    /// The number for all users that have none in a namespace (/proc/sys/kernel/overflowuid).
    private static let userWithoutNumber: UInt32 = 65_534

    /// Whether the map of a namespace of users (user_namespaces(7)) is that of the first one.
    static func numbersAllUsers(_ map: [UInt8]) -> Bool {
        let words = map.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        return words.map { String(decoding: $0, as: UTF8.self) } == ["0", "0", "4294967295"]
    }

    private static func firstThatWorks(of candidates: [Means], _ door: Int32) -> Means {
        guard let (listener, address) = try? Socket.listen(at: .loopback(port: 0), backlog: 1)
        else { return .none }
        defer { listener.close() }
        guard let client = try? Socket.connect(to: address) else { return .none }
        defer { client.close() }
        guard let ownAddress = try? client.ownAddress() else { return .none }
        let pair = SocketPair(client: ownAddress, server: address)
        let own = SocketOwner.user(SocketOwner.ownUser)
        for means in candidates {
            switch means {
            case .netlink where ask(door, about: pair, 0) == own: return .netlink
            case .listing:
                // A listing that is too long works too: a socket that is not in it has no owner.
                let found = look(up: pair)
                if found == .owner(own) || found == .tooLong { return .listing }
            case .netlink, .none: continue
            }
        }
        return .none
    }

    /// Asks by netlink; nil where that fails.
    private static func ask(
        _ door: Int32, about pair: SocketPair, _ number: UInt32
    ) -> SocketOwner? {
        guard door >= 0 else { return nil }
        let socket = Socket(rawValue: door)
        let question = SocketDiagnosis.question(about: pair, number: number)
        guard socket.write(message: question.span) else { return nil }
        var answer = [UInt8](repeating: 0, count: SocketDiagnosis.answerByteLimit)
        for _ in 0..<answerLimit {
            guard let count = (try? socket.read(into: &answer)) ?? nil else { return nil }
            // An answer that came late belongs to an earlier question.
            let read = answer.span.extracting(first: count)
            if let owner = SocketDiagnosis.owner(in: read, of: pair, number: number) {
                return owner
            }
        }
        return nil
    }

    /// The result of a look into the listings.
    private enum Find: Equatable {
        case owner(SocketOwner)
        case nothing
        case tooLong
    }

    /// Looks into the listings; a socket of IPv6 may be connected to an address of IPv4.
    private static func look(up pair: SocketPair) -> Find {
        var find = Find.nothing
        for listing in pair.client.isIPv6 ? [SocketListing.ipv6] : [.ipv4, .ipv6] {
            let text =
                (try? WholeFile.readBeginning(path: listing.path, byteLimit: listingByteLimit))
                ?? []
            if let owner = listing.owner(of: pair, in: text.span) { return .owner(owner) }
            if text.count == listingByteLimit { find = .tooLong }
        }
        return find
    }
}
