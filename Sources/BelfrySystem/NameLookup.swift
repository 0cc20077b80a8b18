internal import CBelfrySystem
import Synchronization

/// The address of a host, looked up by its name on a thread of its own: that may take seconds.
public final class NameLookup: Sendable {
    /// The outcome of a lookup.
    public enum Outcome: Equatable, Sendable {
        /// The lookup is not over.
        case pending
        /// The first address that the name has.
        case found(SocketAddress)
        /// The name has no address, or no name server answers.
        case failed
    }

    private let state = Mutex(Outcome.pending)

    /// Begins with a name.
    ///
    /// - Throws: `SystemCallError` when the system has no room for one more thread.
    public init(host: String, port: UInt16) throws(SystemCallError) {
        _ = try SystemThread { [self] in
            let outcome = Self.look(host, port)
            state.withLock { $0 = outcome }
        }
    }

    /// The outcome so far.
    public var outcome: Outcome { state.withLock { $0 } }

    private static func look(_ host: String, _ port: UInt16) -> Outcome {
        var address = belfry_address()
        // SAFETY: the name is passed as a string that ends in a zero byte; the address is one that
        // the function fills in.
        guard unsafe belfry_lookup_host(host, &address) else { return .failed }
        address.port = port
        return .found(SocketAddress(address))
    }
}
