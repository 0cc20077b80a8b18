import BelfryCenter
import BelfryWire

/// The messages to the clients of a transport, in its format.
///
/// Each transport has a file, and `Transport+Words.swift` names them all.
protocol ClientTransport: Sendable {
    /// The first deadline that the silence of a connection has.
    static var silence: Connection.DeadlineKind { get }

    /// Whether the broker reads messages of clients, as on a WebSocket.
    static var sendsMessages: Bool { get }

    /// Appends the answer to the opening request, and the first message to the client.
    func appendOpening(
        _ welcome: Welcome, _ reply: HTTPReply, _ outbox: inout Outbox, to output: inout [UInt8])

    /// Appends the frame of a delivery; all shared ones of a notification and a selector are equal.
    static func append(
        _ notification: Notification, of delivery: Delivery, at center: Int,
        in centers: inout CenterTable, by writer: inout DeliveryWriter, to frames: inout [UInt8])

    /// Appends the frame of an ask or an action, which is for one observer.
    static func append(
        _ addressed: Addressed, _ notification: Notification, of delivery: Delivery,
        at center: Int,
        in centers: borrowing CenterTable, to frames: inout [UInt8])

    /// Appends the gap of an observer that has lost notifications.
    func append(gap: Gap, to output: inout [UInt8])

    /// Appends the end of an ask that an observer was shown.
    func append(
        settled ask: NotificationID, at observer: UInt64, _ reason: Settlement,
        to output: inout [UInt8])

    /// Appends the removal of an observer.
    func append(removed observer: UInt64, _ tombstone: Tombstone, to output: inout [UInt8])

    /// Appends a sign of life on a silent connection, and returns the next deadline of its silence.
    func appendKeepAlive(to output: inout [UInt8]) -> Connection.DeadlineKind

    /// Appends that the broker stops, and when clients should come back.
    func appendDraining(
        untilMilliseconds end: Int64, reconnectAfter: Duration, to output: inout [UInt8])

    /// Appends the last message; nothing where the transport has none.
    func append(_ farewell: Farewell, to output: inout [UInt8])
}
