import BelfryBytes
public import BelfryCenter
internal import BelfryJSON

/// The shapes of JSON on the wire (Protocol.md); each is appended to a buffer.
///
/// The ones on the path of a post are written by hand: one buffer, no text in between.
public enum Shape {
    /// Appends a notification, as deliveries and mailboxes hold it; userInfo is passed on as it is.
    ///
    /// With an observer it is for that one alone.
    public static func append(
        notification: Notification, isRedelivered: Bool, observer: UInt64? = nil,
        to output: inout [UInt8]
    ) {
        append(
            notification, isRedelivered: isRedelivered, observer: observer, isOneLine: false,
            to: &output)
    }

    /// Appends a notification; in one line, a line end between tokens of userInfo is a space.
    static func append(
        _ notification: Notification, isRedelivered: Bool, observer: UInt64?, isOneLine: Bool,
        to output: inout [UInt8]
    ) {
        output.makeRoom(forMore: 256 + notification.content.byteCount)
        output.append(Key.start.span)
        append(contentOf: notification, isOneLine: isOneLine, to: &output)
        let start = output.count
        output.append(contentsOf: Key.postedAt)
        TimeText.write(
            milliseconds: notification.postedAt, over: &output, at: start + Key.timeOffset)
        append(
            endOf: notification, isRedelivered: isRedelivered, observer: observer, to: &output)
    }

    /// Appends a notification up to its time; the identifier is written over a blank.
    @inline(__always)
    static func append(
        contentOf notification: Notification, isOneLine: Bool, to output: inout [UInt8]
    ) {
        write(notification.id, overStartOf: &output)
        JSONWriter.append(integer: notification.sequence, to: &output)
        output.append(contentsOf: Key.name)
        JSONWriter.append(string: notification.content.name, to: &output)
        if let object = notification.content.object {
            output.append(contentsOf: Key.object)
            JSONWriter.append(string: object, to: &output)
        }
        if let userInfo = notification.content.userInfo {
            output.append(contentsOf: Key.userInfo)
            if isOneLine { output.appendInOneLine(userInfo) } else { output.append(userInfo) }
        }
    }

    /// Appends the part behind the time of a notification.
    static func append(
        endOf notification: Notification, isRedelivered: Bool, observer: UInt64?,
        to output: inout [UInt8]
    ) {
        if let observer {
            output.append(contentsOf: Key.observer)
            IdentifierText.append(observer: observer, to: &output)
            output.append(UInt8(ascii: "\""))
        }
        if let causedBy = notification.causedBy {
            output.append(contentsOf: Key.causedBy)
            causedBy.append(to: &output)
            output.append(UInt8(ascii: "\""))
        }
        if isRedelivered { output.append(contentsOf: Key.redelivered) }
        output.append(UInt8(ascii: "}"))
    }

    /// The member that tells when a notification was dispatched.
    static func postedAt(milliseconds: Int64) -> [UInt8] {
        var text = Key.postedAt
        TimeText.write(milliseconds: milliseconds, over: &text, at: Key.timeOffset)
        return text
    }

    /// The texts between the values, copied as a whole; short values are set into them.
    private enum Key {
        static let start = [UInt8]("{\"id\":\"\(blankID)\",\"seq\":".utf8)
        static let idOffset = 7
        static let name = [UInt8](",\"name\":".utf8)
        static let object = [UInt8](",\"object\":".utf8)
        static let userInfo = [UInt8](",\"userInfo\":".utf8)
        static let postedAt = [UInt8](",\"postedAt\":\"0000-00-00T00:00:00.000Z\"".utf8)
        static let timeOffset = 13
        static let observer = [UInt8](",\"observer\":\"".utf8)
        static let causedBy = [UInt8](",\"causedBy\":\"".utf8)
        static let redelivered = [UInt8](",\"redelivered\":true".utf8)
        static let matched = [UInt8](",\"matched\":".utf8)
        static let delivered = [UInt8](",\"delivered\":".utf8)
        /// The other counts of most posts.
        static let noOtherCounts = [UInt8](
            """
            ,"held":0,"coalesced":0,"dropped":0,"acknowledged":0,"refused":0,"pending":0,\
            "dequeued":0
            """.utf8)

        /// The counts of most posts, with the end of their receipt.
        static let fewCounts =
            matched + [UInt8(ascii: "0")] + delivered + [UInt8(ascii: "0")] + noOtherCounts
            + [UInt8(ascii: "}")]
        static let matchedOffset = matched.count
        static let deliveredOffset = matched.count + 1 + delivered.count

        private static let blankID = String(repeating: "0", count: NotificationID.textByteCount)
    }

    /// Appends `{"id":"…","seq":`, with which notifications and receipts start.
    static func append(start id: NotificationID, to output: inout [UInt8]) {
        output.append(Key.start.span)
        write(id, overStartOf: &output)
    }

    /// Writes an identifier over the blank one of a start that was just appended.
    private static func write(_ id: NotificationID, overStartOf output: inout [UInt8]) {
        let start = output.count - Key.start.count + Key.idOffset
        var text = output.mutableSpan
        id.write(over: &text, at: start)
    }

    /// With what notifications and receipts start, up to the value of the sequence number.
    static var blankStart: [UInt8] { Key.start }

    /// Appends the receipt of a post; with rows, it has one for each observer.
    ///
    /// A post that waits in the queue, or was coalesced into another one, has no counts and no
    /// rows.
    public static func append(
        receipt: Receipt, rows: [ReportRow]? = nil, sight: Sight = .everything,
        to output: inout [UInt8]
    ) {
        guard case .posted = receipt.state else {
            append(receipt, key: "\",\"outcome\":\"", to: &output)
            return
        }
        output.makeRoom(forMore: 224)
        append(start: receipt.id, to: &output)
        JSONWriter.append(integer: receipt.sequence, to: &output)
        append(countsOf: receipt, rows: rows, sight: sight, to: &output)
    }

    /// Appends the counts of a receipt behind its number, and its end.
    @inline(__always)
    static func append(
        countsOf receipt: Receipt, rows: [ReportRow]? = nil, sight: Sight = .everything,
        to output: inout [UInt8]
    ) {
        if rows == nil, receipt.matched < 10, receipt.delivered < 10, !receipt.hasOtherCounts {
            appendFewCounts(of: receipt, to: &output)
            return
        }
        output.append(contentsOf: Key.matched)
        JSONWriter.append(integer: UInt64(receipt.matched), to: &output)
        output.append(contentsOf: Key.delivered)
        JSONWriter.append(integer: UInt64(receipt.delivered), to: &output)
        if receipt.hasOtherCounts {
            appendOtherCounts(of: receipt, to: &output)
        } else {
            output.append(contentsOf: Key.noOtherCounts)
        }
        if let rows { append(rows, sight, to: &output) }
        output.append(UInt8(ascii: "}"))
    }

    /// Appends the counts and the end of most receipts: two counts of one digit, the others zero.
    private static func appendFewCounts(of receipt: Receipt, to output: inout [UInt8]) {
        let start = output.count
        output.append(Key.fewCounts.span)
        guard receipt.matched > 0 else { return }
        var text = output.mutableSpan
        text[start + Key.matchedOffset] += UInt8(truncatingIfNeeded: receipt.matched)
        text[start + Key.deliveredOffset] += UInt8(truncatingIfNeeded: receipt.delivered)
    }

    /// Appends the receipts of a batch in the order of its posts; `rows`, when given, has as many.
    public static func append(
        receipts: [Receipt], rows: [[ReportRow]]? = nil, sight: Sight = .everything,
        to output: inout [UInt8]
    ) {
        precondition(rows == nil || rows?.count == receipts.count, "each receipt has its rows")
        output.append("{\"receipts\":[")
        for index in receipts.indices {
            if index > 0 { output.append(",") }
            append(receipt: receipts[index], rows: rows?[index], sight: sight, to: &output)
        }
        output.append("]}")
    }

    /// Appends the fate of a post; if it was posted, with its receipt.
    public static func append(fate receipt: Receipt, to output: inout [UInt8]) {
        append(receipt, key: "\",\"state\":\"", to: &output)
        guard case .posted = receipt.state else { return }
        output.removeLast()
        output.append(",\"receipt\":")
        append(receipt: receipt, to: &output)
        output.append("}")
    }
}

extension ReportRow.Outcome {
    var text: String {
        switch self {
        case .delivered: "delivered"
        case .acknowledged, .answered, .resultOmitted: "acknowledged"
        case .refused: "refused"
        case .pending: "pending"
        case .held: "held"
        case .coalesced: "coalesced"
        case .dropped: "dropped"
        case .disconnected: "disconnected"
        case .unhandled: "unhandled"
        }
    }
}
