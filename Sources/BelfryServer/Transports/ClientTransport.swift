import BelfryCenter
import BelfryWire

/// What is said to the clients of a transport, in its words; each has a file, and `Transport+Words.swift` names them all.
protocol ClientTransport: Sendable {
    /// What the silence of a connection means first.
    static var silence: Connection.DeadlineKind { get }

    /// Whether what clients send is read, as messages of a WebSocket.
    static var sendsMessages: Bool { get }

    /// Appends the answer to the request that opens, and what its client is told first.
    func appendOpening(
        _ welcome: Welcome, _ reply: HTTPReply, _ outbox: inout Outbox, to output: inout [UInt8])

    /// Appends the frame of a delivery; all shared ones of a notification and a selector are the same.
    static func append(
        _ notification: Notification, of delivery: Delivery, at center: Int,
        in centers: inout CenterTable, by writer: inout DeliveryWriter, to frames: inout [UInt8])

    /// Appends the frame of an ask or an action, which is for one observer.
    static func append(
        _ addressed: Addressed, _ notification: Notification, of delivery: Delivery,
        at center: Int,
        in centers: borrowing CenterTable, to frames: inout [UInt8])

    /// Appends that an observer has lost notifications.
    func append(gap: Gap, to output: inout [UInt8])

    /// Appends that an ask is over which an observer was shown.
    func append(
        settled ask: NotificationID, at observer: UInt64, _ reason: Settlement,
        to output: inout [UInt8])

    /// Appends that an observer was removed.
    func append(removed observer: UInt64, _ tombstone: Tombstone, to output: inout [UInt8])

    /// Appends what is said on a silent connection, and tells what its silence means then.
    func appendKeepAlive(to output: inout [UInt8]) -> Connection.DeadlineKind

    /// Appends that the broker stops, and when to come back.
    func appendDraining(
        untilMilliseconds end: Int64, reconnectAfter: Duration, to output: inout [UInt8])

    /// Appends the last thing that is said; nothing where there are no words for it.
    func append(_ farewell: Farewell, to output: inout [UInt8])
}
