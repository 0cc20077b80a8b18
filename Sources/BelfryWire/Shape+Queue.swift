public import BelfryCenter
internal import BelfryJSON

// The queue, the modes, suspension and mailboxes.
extension Shape {
    /// Appends a page of queue entries in the order in which they would be posted.
    public static func append(queue page: Page<QueueEntryRow>, to output: inout [UInt8]) {
        append("entries", page, to: &output) { row, output, writer in
            append(row, to: &output, with: &writer)
        }
    }

    /// Appends one queue entry.
    public static func append(queueEntry row: QueueEntryRow, to output: inout [UInt8]) {
        var writer = JSONWriter()
        append(row, to: &output, with: &writer)
    }

    private static func append(
        _ row: QueueEntryRow, to output: inout [UInt8], with writer: inout JSONWriter
    ) {
        writer.beginObject(into: &output)
        writer.notificationID("id", row.id, into: &output)
        writer.key("name", into: &output)
        writer.string(row.content.name, into: &output)
        if let object = row.content.object {
            writer.key("object", into: &output)
            writer.string(object, into: &output)
        }
        writer.member("style", string: row.style.text, into: &output)
        writer.strings("modes", row.modes, into: &output)
        let words = Coalescing.words.filter { row.coalescing.contains($0.coalescing) }
        writer.strings("coalesce", words.map { [UInt8]($0.text.utf8) }, into: &output)
        writer.member("merged", integer: row.mergedCount, into: &output)
        writer.time("enqueuedAt", row.enqueuedAt, into: &output)
        if let timer = row.timer { append(timer, to: &output, with: &writer) }
        writer.endObject(into: &output)
    }

    /// Appends what a timer has besides.
    private static func append(
        _ timer: QueueEntryRow.Timing, to output: inout [UInt8], with writer: inout JSONWriter
    ) {
        if let dueAt = timer.dueAt { writer.time("dueAt", dueAt, into: &output) }
        if let client = timer.client { writer.clientID("onDisconnect", client, into: &output) }
        guard let repetition = timer.repetition else { return }
        writer.key("every", into: &output)
        writer.seconds(.nanoseconds(repetition.period), into: &output)
        writer.member("fired", integer: Int(clamping: repetition.fired), into: &output)
        writer.member("missed", integer: Int(clamping: repetition.missed), into: &output)
    }

    /// Appends a ticket, with the time in milliseconds since 1970 until which it is good.
    public static func append(
        ticket: [UInt8], expiresAt: Int64, to output: inout [UInt8]
    ) {
        var writer = JSONWriter()
        writer.beginObject(into: &output)
        writer.member("ticket", string: ticket, into: &output)
        writer.time("expiresAt", expiresAt, into: &output)
        writer.endObject(into: &output)
    }

    /// Appends the mode stack.
    public static func append(modes row: ModesRow, to output: inout [UInt8]) {
        var writer = JSONWriter()
        writer.beginObject(into: &output)
        writer.member("current", string: row.current, into: &output)
        writer.array("stack", of: row.stack, into: &output) { lease, output, writer in
            writer.beginObject(into: &output)
            writer.modeID("id", lease.serial, into: &output)
            writer.member("mode", string: lease.mode, into: &output)
            if let client = lease.client { writer.clientID("client", client, into: &output) }
            writer.endObject(into: &output)
        }
        writer.strings("common", row.common, into: &output)
        writer.endObject(into: &output)
    }

    /// Appends a mode lease as entering it answers; the token, which is whole, is shown only here.
    public static func append(
        modeLease serial: UInt64, token: [UInt8], mode: [UInt8], to output: inout [UInt8]
    ) {
        var writer = JSONWriter()
        writer.beginObject(into: &output)
        writer.modeID("id", serial, into: &output)
        writer.member("token", string: token, into: &output)
        writer.member("mode", string: mode, into: &output)
        writer.endObject(into: &output)
    }

    /// Appends whether a client is suspended from now on.
    public static func append(isSuspended: Bool, to output: inout [UInt8]) {
        output.append(isSuspended ? "{\"suspended\":true}" : "{\"suspended\":false}")
    }

    /// Appends a resumed client: its observers as in listings, and the count of held deliveries.
    public static func append(
        resumed client: ResumedClient, center: [UInt8], to output: inout [UInt8]
    ) {
        var writer = JSONWriter()
        writer.beginObject(into: &output)
        writer.clientID("client", client.row.id, into: &output)
        writer.array("observers", of: client.observers, into: &output) { row, output, writer in
            append(row, center: center, to: &output, with: &writer)
        }
        writer.member("held", integer: client.heldCount, into: &output)
        writer.endObject(into: &output)
    }

    /// Appends the content of a mailbox for an observer: notifications, asks and actions.
    public static func append(
        mailbox page: MailboxPage, observer: UInt64, to output: inout [UInt8]
    ) {
        output.append("{\"notifications\":[")
        for (index, held) in page.elements.enumerated() {
            if index > 0 { output.append(",") }
            if let keyPath = held.keyPath {
                append(
                    change: held.notification, keyPath: keyPath, isRedelivered: held.isRedelivered,
                    observer: observer, to: &output)
            } else if let addressed = held.addressed {
                append(
                    held.notification, addressed, observer: observer,
                    isRedelivered: held.isRedelivered, isOneLine: false, to: &output)
            } else {
                append(
                    notification: held.notification, isRedelivered: held.isRedelivered,
                    observer: observer, to: &output)
            }
        }
        output.append("],\"gaps\":[")
        var writer = JSONWriter()
        for gap in page.gaps { writer.gap(gap, into: &output) }
        output.append("],\"next\":")
        JSONWriter.append(integer: page.next, to: &output)
        output.append("}")
    }
}
