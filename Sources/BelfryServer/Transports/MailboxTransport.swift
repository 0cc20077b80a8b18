import BelfryCenter
import BelfryWire

/// A client with a mailbox that is read by requests: it gets no messages.
///
/// Gaps are on the page that answers a poll, and the end of an observer is the answer to the next
/// poll. A poll is a request like others, and `PollTable` ends it.
struct MailboxTransport: ClientTransport {
    static let silence = Connection.DeadlineKind.answer
    static let sendsMessages = false

    func appendOpening(
        _ welcome: Welcome, _ reply: HTTPReply, _ outbox: inout Outbox, to output: inout [UInt8]
    ) {}

    static func append(
        _ notification: Notification, of delivery: Delivery, at center: Int,
        in centers: inout CenterTable, by writer: inout DeliveryWriter, to frames: inout [UInt8]
    ) {}

    static func append(
        _ addressed: Addressed, _ notification: Notification, of delivery: Delivery,
        at center: Int,
        in centers: borrowing CenterTable, to frames: inout [UInt8]
    ) {}

    func append(gap: Gap, to output: inout [UInt8]) {}

    func append(
        settled ask: NotificationID, at observer: UInt64, _ reason: Settlement,
        to output: inout [UInt8]
    ) {}

    func append(removed observer: UInt64, _ tombstone: Tombstone, to output: inout [UInt8]) {}

    func appendKeepAlive(to output: inout [UInt8]) -> Connection.DeadlineKind { Self.silence }

    func appendDraining(
        untilMilliseconds end: Int64, reconnectAfter: Duration, to output: inout [UInt8]
    ) {}

    func append(_ farewell: Farewell, to output: inout [UInt8]) {}
}
