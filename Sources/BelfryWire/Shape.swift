public import BelfryCenter
internal import BelfryJSON

/// The shapes that stand in JSON on the wire (DESIGN section 3.1); each is appended to a buffer.
///
/// The ones on the path of a post are written by hand: one buffer, no text in between.
public enum Shape {
    /// Appends a notification, as deliveries and mailboxes hold it; userInfo is passed on as it is.
    public static func append(
        notification: Notification, isRedelivered: Bool, to output: inout [UInt8]
    ) {
        append(notification, isRedelivered: isRedelivered, isOneLine: false, to: &output)
    }

    /// Appends a notification; in one line, a line end between tokens of userInfo is a space.
    static func append(
        _ notification: Notification, isRedelivered: Bool, isOneLine: Bool,
        to output: inout [UInt8]
    ) {
        let content = notification.content
        output.makeRoom(forMore: 256 + content.byteCount)
        output.append("{\"id\":\"")
        notification.id.append(to: &output)
        output.append("\",\"seq\":")
        JSONWriter.append(integer: notification.sequence, to: &output)
        output.append(",\"name\":")
        JSONWriter.append(string: content.name, to: &output)
        if let object = content.object {
            output.append(",\"object\":")
            JSONWriter.append(string: object, to: &output)
        }
        if let userInfo = content.userInfo {
            output.append(",\"userInfo\":")
            if isOneLine { output.appendInOneLine(userInfo) } else { output.append(userInfo) }
        }
        output.append(",\"postedAt\":\"")
        TimeText.append(milliseconds: notification.postedAt, to: &output)
        output.append("\"")
        if let causedBy = notification.causedBy {
            output.append(",\"causedBy\":\"")
            causedBy.append(to: &output)
            output.append("\"")
        }
        output.append(isRedelivered ? ",\"redelivered\":true}" : "}")
    }

    /// Appends the receipt of a post; with rows, it has one for each observer.
    public static func append(
        receipt: Receipt, rows: [ReceiptRow]? = nil, to output: inout [UInt8]
    ) {
        output.append("{\"id\":\"")
        receipt.id.append(to: &output)
        output.append("\",\"seq\":")
        JSONWriter.append(integer: receipt.sequence, to: &output)
        output.append(",\"matched\":")
        JSONWriter.append(integer: UInt64(receipt.matched), to: &output)
        output.append(",\"delivered\":")
        JSONWriter.append(integer: UInt64(receipt.delivered), to: &output)
        output.append(contentsOf: noOtherCounts.utf8)
        if let rows { append(rows, to: &output) }
        output.append(UInt8(ascii: "}"))
    }

    /// What comes with queue, suspension and acknowledgement.
    private static let noOtherCounts = """
        ,"held":0,"coalesced":0,"dropped":0,"acknowledged":0,"refused":0,"pending":0,"dequeued":0
        """

    private static func append(_ rows: [ReceiptRow], to output: inout [UInt8]) {
        output.append(",\"observers\":[")
        for index in rows.indices {
            output.append(index == 0 ? "{\"id\":\"" : ",{\"id\":\"")
            IdentifierText.append(observer: rows[index].observer, to: &output)
            output.append("\",\"outcome\":\"")
            output.append(rows[index].outcome.text)
            output.append("\"}")
        }
        output.append("]")
    }

    /// Appends the receipts of a batch in the order of its posts; `rows`, when given, has as many.
    public static func append(
        receipts: [Receipt], rows: [[ReceiptRow]]? = nil, to output: inout [UInt8]
    ) {
        precondition(rows == nil || rows?.count == receipts.count, "each receipt has its rows")
        output.append("{\"receipts\":[")
        for index in receipts.indices {
            if index > 0 { output.append(",") }
            append(receipt: receipts[index], rows: rows?[index], to: &output)
        }
        output.append("]}")
    }

    /// Appends the fate of a post: that it was posted, and its receipt.
    public static func append(fate receipt: Receipt, to output: inout [UInt8]) {
        output.append("{\"id\":\"")
        receipt.id.append(to: &output)
        output.append("\",\"state\":\"posted\",\"receipt\":")
        append(receipt: receipt, to: &output)
        output.append("}")
    }
}

/// What became of a notification for one observer.
public struct ReceiptRow: Sendable, Equatable {
    /// The serial number of the observer.
    public let observer: UInt64
    /// What became of it.
    public let outcome: Outcome

    /// Joins both.
    public init(observer: UInt64, outcome: Outcome) {
        self.observer = observer
        self.outcome = outcome
    }

    /// What becomes of a notification for one observer.
    public enum Outcome: Sendable, Equatable {
        /// It was put on the way to a client that was live.
        case delivered

        var text: String {
            switch self {
            case .delivered: "delivered"
            }
        }
    }
}
