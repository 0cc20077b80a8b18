internal import BelfryBytes
public import BelfryCenter
internal import BelfryJSON

// Observers, clients, channels and centers, and the pages of their listings.
extension Shape {
    /// Appends an observer as registration answers it; token and session are shown only here.
    ///
    /// Both are whole: `o17.kJ3…` and `c4.Qz…`.
    public static func append(
        registered row: ObserverRow, token: [UInt8], session: [UInt8], center: [UInt8],
        to output: inout [UInt8]
    ) {
        output.append(literal: #"{"id":""#)
        IdentifierText.append(observer: row.serial, to: &output)
        output.append(literal: #"","token":"#)
        JSONWriter.append(string: token, to: &output)
        output.append(literal: #","client":""#)
        IdentifierText.append(client: row.client, to: &output)
        output.append(literal: #"","session":"#)
        JSONWriter.append(string: session, to: &output)
        append(filterOf: row, center: center, to: &output)
        output.append(literal: #","since":"#)
        JSONWriter.append(integer: row.since, to: &output)
        output.append(UInt8(ascii: "}"))
    }

    /// Appends an observer as listings hold it.
    public static func append(
        observer row: ObserverRow, center: [UInt8], to output: inout [UInt8]
    ) {
        var writer = JSONWriter()
        append(row, center: center, to: &output, with: &writer)
    }

    /// Appends an observer, for the listing of responders with what it was asked.
    static func append(
        _ row: ObserverRow, center: [UInt8], asks: ResponderRow? = nil, to output: inout [UInt8],
        with writer: inout JSONWriter
    ) {
        writer.beginObject(into: &output)
        writer.observerID("id", row.serial, into: &output)
        writer.clientID("client", row.client, into: &output)
        append(filterOf: row, center: center, to: &output)
        writer.member("state", string: row.state.text, into: &output)
        writer.time("stateSince", row.stateSince, into: &output)
        writer.time("createdAt", row.createdAt, into: &output)
        writer.member("principal", string: row.principal, into: &output)
        writer.member("delivered", integer: row.tally.delivered, into: &output)
        writer.member("held", integer: row.held, into: &output)
        writer.member("coalesced", integer: row.tally.coalesced, into: &output)
        writer.member("dropped", integer: row.tally.dropped, into: &output)
        if let time = row.tally.lastDeliveredAt {
            writer.time("lastDeliveredAt", time, into: &output)
        }
        if let time = row.leaseEndsAt { writer.time("leaseEndsAt", time, into: &output) }
        if !row.toldGaps.isEmpty {
            writer.array("gaps", of: row.toldGaps, into: &output) { told, output, writer in
                writer.told(told, into: &output)
            }
        }
        if let asks {
            writer.member("openAsks", integer: asks.openAskCount, into: &output)
            writer.member("asked", integer: asks.askedCount, into: &output)
            writer.member("answered", integer: asks.answeredCount, into: &output)
        }
        writer.endObject(into: &output)
    }

    /// Appends a page of observers.
    public static func append(
        observers page: Page<ObserverRow>, center: [UInt8], to output: inout [UInt8]
    ) {
        append("observers", page, to: &output) { row, output, writer in
            append(row, center: center, to: &output, with: &writer)
        }
    }

    /// Appends a page of clients.
    ///
    /// `unsentByteCount` gives the unsent bytes of each connection, nil where they are unknown.
    public static func append(
        clients page: Page<ClientRow>, unsentByteCount: (ClientRow) -> Int?,
        to output: inout [UInt8]
    ) {
        append("clients", page, to: &output) { row, output, writer in
            append(row, unsentByteCount: unsentByteCount(row), to: &output, with: &writer)
        }
    }

    /// Appends one client; `unsentByteCount` is the count of its unsent bytes, nil if unknown.
    public static func append(
        client row: ClientRow, unsentByteCount: Int?, to output: inout [UInt8]
    ) {
        var writer = JSONWriter()
        append(row, unsentByteCount: unsentByteCount, to: &output, with: &writer)
    }

    private static func append(
        _ row: ClientRow, unsentByteCount: Int?, to output: inout [UInt8],
        with writer: inout JSONWriter
    ) {
        writer.beginObject(into: &output)
        writer.clientID("id", row.id, into: &output)
        writer.member("transport", string: row.transport.text, into: &output)
        writer.member("state", string: row.state.text, into: &output)
        writer.time("stateSince", row.stateSince, into: &output)
        writer.member("principal", string: row.principal, into: &output)
        writer.member("observers", integer: row.observerCount, into: &output)
        writer.member("held", integer: row.held, into: &output)
        if let unsentByteCount {
            writer.member("unsentBytes", integer: unsentByteCount, into: &output)
        }
        writer.time("connectedAt", row.connectedAt, into: &output)
        writer.endObject(into: &output)
    }

    /// Appends a page of channels.
    public static func append(channels page: Page<ChannelRow>, to output: inout [UInt8]) {
        append("channels", page, to: &output) { row, output, writer in
            writer.beginObject(into: &output)
            writer.member("name", string: row.name, into: &output)
            writer.member("observers", integer: row.observerCount, into: &output)
            writer.member("named", integer: row.namedCount, into: &output)
            writer.member("posts", integer: row.postCount, into: &output)
            writer.member("delivered", integer: row.deliveryCount, into: &output)
            writer.member("unmatched", integer: row.unmatchedCount, into: &output)
            if let time = row.lastPostedAt { writer.time("lastPostedAt", time, into: &output) }
            writer.endObject(into: &output)
        }
    }

    /// Appends a page of centers.
    public static func append(
        centers rows: [CenterRow], next: UInt64? = nil, to output: inout [UInt8]
    ) {
        append("centers", Page(rows: rows, next: next), to: &output) { row, output, writer in
            writer.beginObject(into: &output)
            writer.member("name", string: row.name, into: &output)
            writer.member("observers", integer: row.observerCount, into: &output)
            writer.member("clients", integer: row.clientCount, into: &output)
            writer.member("seq", integer: row.sequence, into: &output)
            writer.member("epoch", string: row.epoch, into: &output)
            writer.endObject(into: &output)
        }
    }

    /// Appends how many observers, or queue entries, a call has removed.
    public static func append(removedCount: Int, to output: inout [UInt8]) {
        output.append("{\"removed\":")
        JSONWriter.append(integer: removedCount, to: &output)
        output.append("}")
    }

    /// Appends a page with the number of rows, where known, and of those that were not looked at.
    static func append<Row: Sendable>(
        _ key: String, _ page: Page<Row>, to output: inout [UInt8],
        row: (Row, inout [UInt8], inout JSONWriter) -> Void
    ) {
        var writer = JSONWriter()
        writer.beginObject(into: &output)
        writer.array(key, of: page.rows, into: &output, element: row)
        writer.next(page.next, into: &output)
        writer.next(page.last, into: &output)
        if let total = page.total { writer.member("total", integer: total, into: &output) }
        if page.unseenCount > 0 {
            writer.member("unseen", integer: page.unseenCount, into: &output)
        }
        writer.endObject(into: &output)
    }
}

/// The row of a center in a listing.
public struct CenterRow: Sendable, Equatable {
    /// Its name.
    public var name: [UInt8]
    /// How many observers it has.
    public var observerCount: Int
    /// How many clients it has.
    public var clientCount: Int
    /// The sequence number of its last notification.
    public var sequence: UInt64
    /// The identity of this life of it.
    public var epoch: [UInt8]

    /// Joins the parts.
    public init(
        name: [UInt8], observerCount: Int, clientCount: Int, sequence: UInt64, epoch: [UInt8]
    ) {
        self.name = name
        self.observerCount = observerCount
        self.clientCount = clientCount
        self.sequence = sequence
        self.epoch = epoch
    }

    /// Looks into a center.
    public init(_ center: borrowing NotificationCenter) {
        self.init(
            name: center.name, observerCount: center.observerCount,
            clientCount: center.clientCount, sequence: center.sequence, epoch: center.epoch)
    }
}
