/// How far a journal is with its connection to a server.
public enum NATSProgress: Equatable, Sendable {
    /// The journal has no connection.
    case disconnected
    /// A connection is there, and INFO is due.
    case awaitsInfo
    /// TLS must begin now, before anything else is sent.
    case awaitsTLS
    /// The broker has sent its credentials, and prepares the streams.
    ///
    /// On a later connection, it waits for the server to accept it.
    case preparing
    /// The streams are there and right: entries and requests go to the server.
    case ready
    /// The connection is of no use, and must be closed.
    case failed(NATSFailure)
}
