import BelfryBytes
public import BelfryCenter
internal import BelfryJSON

// Values: the shapes for a writer, for a reader, and for an observer.
extension Shape {
    /// Appends the result of a write: the account of a change, or that nothing has changed.
    ///
    /// - Parameter tag: the tag of the value at the place now; nil where there is none, or where
    ///   the caller may not read.
    public static func append(
        written: WrittenValue, tag: ValueTag?, to output: inout [UInt8]
    ) {
        let receipt = written.receipt
        if written.isChanged {
            append(start: receipt.id, to: &output)
        } else {
            output.append(literal: #"{"seq":"#)
        }
        JSONWriter.append(integer: receipt.sequence, to: &output)
        output.append(
            literal: written.isChanged ? #","changed":true"# : #","changed":false"#)
        if let tag {
            output.append(literal: #","etag":"#)
            ValueTagText.append(json: tag, to: &output)
        }
        append(countsOf: receipt, to: &output)
    }

    /// Appends the value at a place, with its tag, as the result of a call.
    public static func append(value: PresentValue, to output: inout [UInt8]) {
        output.append(literal: #"{"value":"#)
        value.value.append(to: &output)
        output.append(literal: #","etag":"#)
        ValueTagText.append(json: value.tag, to: &output)
        output.append(literal: #","seq":"#)
        JSONWriter.append(integer: value.sequence, to: &output)
        output.append(UInt8(ascii: "}"))
    }

    /// Appends a page of values.
    public static func append(values page: Page<ValueRow>, to output: inout [UInt8]) {
        append("values", page, to: &output) { row, output, writer in
            writer.beginObject(into: &output)
            writer.member("object", string: row.object, into: &output)
            writer.member("bytes", integer: row.byteCount, into: &output)
            writer.member("observers", integer: row.observerCount, into: &output)
            writer.time("changedAt", row.changedAt, into: &output)
            writer.endObject(into: &output)
        }
    }

    /// Appends a change of a value: a notification with its key path, the change as the userInfo.
    static func append(
        change notification: Notification, keyPath: [UInt8], isRedelivered: Bool,
        observer: UInt64?, to output: inout [UInt8]
    ) {
        append(
            notification.withoutUserInfo, isRedelivered: isRedelivered, observer: observer,
            isOneLine: false, to: &output)
        output.removeLast()
        output.append(literal: #","keyPath":"#)
        JSONWriter.append(string: keyPath, to: &output)
        output.append(literal: #","change":"#)
        // Leaves keep their bytes, but no line end is among them: white space between tokens is
        // gone.
        if let change = notification.content.userInfo { output.append(change) }
        output.append(UInt8(ascii: "}"))
    }
}

extension Notification {
    /// The notification with its name and object alone.
    fileprivate var withoutUserInfo: Notification {
        let name = [UInt8](copying: content.name)
        var object: [UInt8]?
        if let span = content.object { object = [UInt8](copying: span) }
        return Notification(
            id: id, sequence: sequence, postedAt: postedAt, causedBy: causedBy,
            content: Content(name: name, object: object))
    }
}

extension RPC {
    /// Appends a change of a value, which calls the selector of its observer.
    public static func append(
        change notification: Notification, keyPath: [UInt8], calling selector: [UInt8],
        isRedelivered: Bool, to output: inout [UInt8]
    ) {
        output.append(literal: #"{"jsonrpc":"2.0","method":"#)
        JSONWriter.append(string: selector, to: &output)
        output.append(literal: #","params":"#)
        Shape.append(
            change: notification, keyPath: keyPath, isRedelivered: isRedelivered, observer: nil,
            to: &output)
        output.append(UInt8(ascii: "}"))
    }
}

extension EventStream {
    /// Appends a change of a value as an event without a type; a mailbox names its observer.
    public static func append(
        change notification: Notification, keyPath: [UInt8], epoch: [UInt8], isRedelivered: Bool,
        observer: UInt64? = nil, to output: inout [UInt8]
    ) {
        output.append("id: ")
        appendPosition(epoch: epoch, sequence: notification.sequence, to: &output)
        output.append("\ndata: ")
        Shape.append(
            change: notification, keyPath: keyPath, isRedelivered: isRedelivered,
            observer: observer, to: &output)
        output.append("\n\n")
    }
}
