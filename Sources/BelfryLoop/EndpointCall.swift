public import BelfrySystem

/// A connection that a loop opens to a host, whose name may have to be looked up first.
public struct EndpointCall {
    /// The address that is looked for, as the host has a name.
    private var lookup: NameLookup?

    /// The reason why the connection could not be opened.
    public enum Failure: Error, Equatable {
        /// The name has no address, or no name server answers.
        case noAddress
        /// The system has no room for it.
        case system(SystemCallError)
    }

    /// A call that has not begun.
    public init() {}

    /// Whether an address is looked for.
    public var isLookingUp: Bool { lookup != nil }

    /// Begins to open a connection.
    ///
    /// - Returns: nil where the name is looked up first: ``goOn(_:)`` has the connection then.
    public mutating func open(
        _ endpoint: Endpoint, _ loop: inout EventLoop
    ) throws(Failure) -> ConnectionID? {
        if let address = endpoint.address { return try Self.connect(to: address, &loop) }
        do throws(SystemCallError) {
            lookup = try NameLookup(host: endpoint.host, port: endpoint.port)
            return nil
        } catch {
            throw .system(error)
        }
    }

    /// Opens the connection once the name has an address; nil until then.
    public mutating func goOn(_ loop: inout EventLoop) throws(Failure) -> ConnectionID? {
        switch lookup?.outcome {
        case .pending?, nil: return nil
        case .failed?:
            lookup = nil
            throw .noAddress
        case .found(let address)?:
            lookup = nil
            return try Self.connect(to: address, &loop)
        }
    }

    private static func connect(
        to address: SocketAddress, _ loop: inout EventLoop
    ) throws(Failure) -> ConnectionID {
        do throws(SystemCallError) {
            return try loop.connect(to: address)
        } catch {
            throw .system(error)
        }
    }
}

extension EndpointCall.Failure: CustomStringConvertible {
    /// The reason, as a line of a log has it.
    public var description: String {
        switch self {
        case .noAddress: "its name has no address"
        case .system(let error): "\(error)"
        }
    }
}
