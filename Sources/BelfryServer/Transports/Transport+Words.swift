import BelfryCenter
import BelfryWire

// The one place that tells the transports apart. Rare messages go through a value; frequent ones
// call the type by name, so that the compiler inlines them.

extension Transport {
    /// The messages to its clients.
    var words: any ClientTransport {
        switch self {
        case .webSocket: WebSocketTransport()
        case .events: EventStreamTransport()
        case .mailbox: MailboxTransport()
        }
    }

    /// The first deadline of a connection's silence.
    @inline(__always)
    var silence: Connection.DeadlineKind {
        switch self {
        case .webSocket: WebSocketTransport.silence
        case .events: EventStreamTransport.silence
        case .mailbox: MailboxTransport.silence
        }
    }

    /// Whether the broker reads messages of its clients.
    @inline(__always)
    var sendsMessages: Bool {
        switch self {
        case .webSocket: WebSocketTransport.sendsMessages
        case .events: EventStreamTransport.sendsMessages
        case .mailbox: MailboxTransport.sendsMessages
        }
    }

    /// Appends the frame of an ask or an action.
    static func append(
        _ addressed: Addressed, _ notification: Notification, of delivery: Delivery,
        at center: Int,
        in centers: borrowing CenterTable, to frames: inout [UInt8]
    ) {
        switch delivery.transport {
        case .webSocket:
            WebSocketTransport.append(
                addressed, notification, of: delivery, at: center, in: centers, to: &frames)
        case .events:
            EventStreamTransport.append(
                addressed, notification, of: delivery, at: center, in: centers, to: &frames)
        case .mailbox:
            MailboxTransport.append(
                addressed, notification, of: delivery, at: center, in: centers, to: &frames)
        }
    }

    /// Appends the frame of a change of a value; the stream of a mailbox names its observer.
    static func append(
        change notification: Notification, _ keyPath: [UInt8], of delivery: Delivery,
        at center: Int, in centers: borrowing CenterTable, to frames: inout [UInt8]
    ) {
        switch delivery.transport {
        case .webSocket:
            WebSocketTransport.append(
                change: notification, keyPath, of: delivery, at: center, in: centers, to: &frames)
        case .events, .mailbox:
            EventStreamTransport.append(
                change: notification, keyPath, of: delivery, at: center, in: centers, to: &frames)
        }
    }

    /// Appends the frame of a delivery that did not go to an address.
    @inline(__always)
    static func append(
        _ notification: Notification, of delivery: Delivery, at center: Int,
        in centers: inout CenterTable, by writer: inout DeliveryWriter, to frames: inout [UInt8]
    ) {
        switch delivery.transport {
        case .webSocket:
            WebSocketTransport.append(
                notification, of: delivery, at: center, in: &centers, by: &writer, to: &frames)
        case .events:
            EventStreamTransport.append(
                notification, of: delivery, at: center, in: &centers, by: &writer, to: &frames)
        case .mailbox:
            MailboxTransport.append(
                notification, of: delivery, at: center, in: &centers, by: &writer, to: &frames)
        }
    }
}
