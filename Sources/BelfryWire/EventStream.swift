import BelfryBytes
public import BelfryCenter
internal import BelfryJSON

/// The Server-Sent Events of the broker (HTML Standard §9.2).
///
/// The data of an event is one line: JSON has no line end inside a token.
public enum EventStream {
    /// Appends a notification as an event without a type; its id is `EPOCH-SEQ`.
    ///
    /// A stream of a mailbox names its observer.
    public static func append(
        notification: Notification, epoch: [UInt8], isRedelivered: Bool, observer: UInt64? = nil,
        to output: inout [UInt8]
    ) {
        output.append("id: ")
        appendPosition(epoch: epoch, sequence: notification.sequence, to: &output)
        output.append("\ndata: ")
        Shape.append(
            notification, isRedelivered: isRedelivered, observer: observer, isOneLine: true,
            to: &output)
        output.append("\n\n")
    }

    /// Appends an ask or an action as an event without a type; the responder answers over HTTP.
    public static func append(
        _ addressed: Addressed, _ notification: Notification, epoch: [UInt8], observer: UInt64,
        isRedelivered: Bool, to output: inout [UInt8]
    ) {
        output.append("id: ")
        appendPosition(epoch: epoch, sequence: notification.sequence, to: &output)
        output.append("\ndata: ")
        Shape.append(
            notification, addressed, observer: observer, isRedelivered: isRedelivered,
            isOneLine: true,
            to: &output)
        output.append("\n\n")
    }

    /// Appends the event `belfry.gap`.
    public static func append(gap: Gap, to output: inout [UInt8]) {
        append("belfry.gap", to: &output) { output, writer in
            writer.gap(gap, into: &output)
        }
    }

    /// Appends the event `belfry.removed`.
    public static func append(
        removed observer: UInt64, _ tombstone: Tombstone, to output: inout [UInt8]
    ) {
        append("belfry.removed", to: &output) { output, writer in
            writer.removal(of: observer, tombstone, into: &output)
        }
    }

    /// Appends the event `belfry.settled`.
    public static func append(
        settled id: NotificationID, observer: UInt64, _ reason: Settlement,
        to output: inout [UInt8]
    ) {
        append("belfry.settled", to: &output) { output, writer in
            writer.settlement(of: id, observer: observer, reason, into: &output)
        }
    }

    /// Appends a comment, which keeps the line alive; the text has no line end.
    public static func append(comment text: String, to output: inout [UInt8]) {
        output.append(text.isEmpty ? ":" : ": ")
        output.append(text)
        output.append("\n\n")
    }

    /// Appends a comment with a position, which a client takes over though no event comes with it.
    public static func append(
        comment text: String, epoch: [UInt8], sequence: UInt64, to output: inout [UInt8]
    ) {
        output.append(":")
        if !text.isEmpty { output.append(" ") }
        output.append(text)
        output.append("\nid: ")
        appendPosition(epoch: epoch, sequence: sequence, to: &output)
        output.append("\n\n")
    }

    /// Appends after how long the client connects again.
    public static func append(retryMilliseconds: Int, to output: inout [UInt8]) {
        output.append("retry: ")
        JSONWriter.append(integer: retryMilliseconds, to: &output)
        output.append("\n\n")
    }

    /// Appends the id of an event, `EPOCH-SEQ`.
    public static func appendPosition(
        epoch: [UInt8], sequence: UInt64, to output: inout [UInt8]
    ) {
        output.append(epoch.span)
        output.append("-")
        JSONWriter.append(integer: sequence, to: &output)
    }

    /// Reads the id of an event, as `Last-Event-ID` hands it back.
    public static func position(
        of text: Span<UInt8>
    ) -> (epoch: [UInt8], sequence: UInt64)? {
        var dash = text.count - 1
        while dash >= 0, text[dash] != UInt8(ascii: "-") { dash -= 1 }
        guard dash > 0, let sequence = Decimal.read(text.extracting(dash + 1..<text.count)) else {
            return nil
        }
        var epoch: [UInt8] = []
        epoch.append(text.extracting(0..<dash))
        return (epoch, sequence)
    }

    private static func append(
        _ type: String, to output: inout [UInt8],
        data: (inout [UInt8], inout JSONWriter) -> Void
    ) {
        output.append("event: ")
        output.append(type)
        output.append("\ndata: ")
        var writer = JSONWriter()
        data(&output, &writer)
        output.append("\n\n")
    }
}
