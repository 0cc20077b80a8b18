/// What speaks to a client that is told things as they come.
///
/// All that is said in the words of one transport stands in its own file: the opening, the frame of a delivery,
/// what keeps it alive, what is said at the end. What is asked seldom is asked through this; opening and
/// frame are called by name, as the path of a delivery has no room for more.
protocol ClientTransport: Sendable {
    /// Appends what is said on a silent connection, and tells what its silence means then.
    func appendKeepAlive(to output: inout [UInt8]) -> Connection.DeadlineKind

    /// Appends that the broker stops, and when to come back.
    func appendDraining(
        untilMilliseconds end: Int64, reconnectAfter: Duration, to output: inout [UInt8])

    /// Appends the last thing that is said; nothing where there are no words for it.
    func append(_ farewell: Farewell, to output: inout [UInt8])
}
