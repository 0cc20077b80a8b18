import BelfryLoop
import BelfrySystem

/// A connection that the loop opens to a server of the engine, whose name may have to be looked up first.
struct ServerCall {
    /// The address that is looked for, as the server has a name.
    private var lookup: NameLookup?

    /// The reason why the connection could not be opened.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Whether an address is looked for.
    var isLookingUp: Bool { lookup != nil }

    /// Begins to open a connection.
    ///
    /// - Returns: nil where the name is looked up first: ``goOn(_:)`` has the connection then.
    mutating func open(
        _ server: EngineServer, _ outbox: inout Outbox
    ) throws(Failure) -> ConnectionID? {
        do throws(SystemCallError) {
            if let address = server.address { return try outbox.loop.connect(to: address) }
            lookup = try NameLookup(host: server.host, port: server.port)
            return nil
        } catch {
            throw Failure(description: "\(error)")
        }
    }

    /// Opens the connection once the name has an address; nil until then.
    mutating func goOn(_ outbox: inout Outbox) throws(Failure) -> ConnectionID? {
        switch lookup?.outcome {
        case .pending?, nil: return nil
        case .failed?:
            lookup = nil
            throw Failure(description: "its name has no address")
        case .found(let address)?:
            lookup = nil
            do throws(SystemCallError) {
                return try outbox.loop.connect(to: address)
            } catch {
                throw Failure(description: "\(error)")
            }
        }
    }
}
