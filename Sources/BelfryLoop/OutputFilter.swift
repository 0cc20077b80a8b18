/// A filter between the output of connections and their sockets, such as TLS.
///
/// The loop calls it at the flush, once for each connection and turn, so that all output of a
/// connection in a turn can be sealed as one. Its result is written as it is.
public protocol OutputFilter: AnyObject {
    /// Appends what the socket is to be written for this output.
    func seal(_ output: Span<UInt8>, of connection: ConnectionID, into sealed: inout [UInt8])

    /// Appends what ends the output of a connection that closes; it is not asked about it again.
    func end(_ connection: ConnectionID, into sealed: inout [UInt8])

    /// Forgets a connection that was closed without an end.
    func forget(_ connection: ConnectionID)
}
