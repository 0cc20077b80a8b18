/// How far a journal is with its connection to a server.
public enum NATSProgress: Equatable, Sendable {
    /// There is no connection.
    case disconnected
    /// A connection is there, and INFO is due.
    case awaitsInfo
    /// TLS must begin now, before anything else is sent.
    case awaitsTLS
    /// The broker has shown who it is, and sees to the streams; on a later connection, it waits to be let in.
    case preparing
    /// The streams are there and right: what is appended and asked goes to the server.
    case ready
    /// The connection is of no use, and must be closed.
    case failed(NATSFailure)
}
