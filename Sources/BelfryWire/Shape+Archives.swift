public import BelfryCenter
internal import BelfryJSON

// Archives, and pages of what they keep.
extension ArchiveRow {
    /// Appends the archive.
    ///
    /// - Parameter hasFigures: whether what it keeps is told, too.
    public func append(hasFigures: Bool, to output: inout [UInt8]) {
        var writer = JSONWriter()
        append(hasFigures: hasFigures, to: &output, with: &writer)
    }

    fileprivate func append(
        hasFigures: Bool, to output: inout [UInt8], with writer: inout JSONWriter
    ) {
        writer.beginObject(into: &output)
        writer.member(name.isPrefix ? "namePrefix" : "name", string: name.text, into: &output)
        writer.optional("count", terms.count.map { UInt64($0) }, into: &output)
        writer.member("bytes", integer: terms.byteLimit, into: &output)
        if let age = terms.age {
            writer.member("age", seconds: .milliseconds(age), into: &output)
        } else {
            writer.member(null: "age", into: &output)
        }
        writer.member("each", string: terms.each.text, into: &output)
        writer.member("keepLast", integer: terms.keepLast, into: &output)
        writer.member("stored", bool: terms.isStored, into: &output)
        writer.member("since", integer: since, into: &output)
        if terms.isConfigured { writer.member("configured", bool: true, into: &output) }
        if hasFigures {
            writer.member("kept", integer: keptCount, into: &output)
            writer.member("keptBytes", integer: keptByteCount, into: &output)
            writer.optional(
                "firstSeq", keptCount > 0 ? firstSequence : nil, into: &output)
            writer.optional("lastSeq", keptCount > 0 ? lastSequence : nil, into: &output)
        }
        writer.endObject(into: &output)
    }

    /// Appends a page of archives.
    public static func append(_ page: Page<ArchiveRow>, to output: inout [UInt8]) {
        Shape.append("archives", page, to: &output) { row, output, writer in
            row.append(hasFigures: true, to: &output, with: &writer)
        }
    }
}

extension PastRequest {
    /// Appends a page of the past.
    ///
    /// - Parameters:
    ///   - lost: a loss behind the beginning, from one number to another.
    ///   - sequence: the number from which a registration goes on without a hole.
    public func append(
        _ page: PastPage, lost: ClosedRange<UInt64>?, sequence: UInt64, epoch: [UInt8],
        to output: inout [UInt8]
    ) {
        output.append("{\"notifications\":[")
        let isReversed = query.looksDown != isNewestFirst
        let rows = isReversed ? page.notifications.reversed() : page.notifications
        for (index, row) in rows.enumerated() {
            if index > 0 { output.append(",") }
            Shape.append(notification: row, isRedelivered: false, to: &output)
        }
        output.append("],\"gaps\":[")
        if let lost {
            output.append("{\"reason\":\"unknown\",\"lost\":null,\"firstSeq\":")
            JSONWriter.append(integer: lost.lowerBound, to: &output)
            output.append(",\"lastSeq\":")
            JSONWriter.append(integer: lost.upperBound, to: &output)
            output.append("}")
        }
        output.append("],\"next\":")
        if page.hasMore, !isWhole, let last = page.notifications.last {
            JSONWriter.append(integer: last.sequence, to: &output)
        } else {
            output.append("null")
        }
        if isWhole, page.hasMore, query.lastEach != nil || rows.count < query.limit {
            output.append(",\"partial\":true")
        }
        output.append(",\"seq\":")
        JSONWriter.append(integer: sequence, to: &output)
        output.append(",\"epoch\":")
        JSONWriter.append(string: epoch.span, to: &output)
        output.append("}")
    }
}

extension JSONWriter {
    fileprivate mutating func optional(
        _ key: String, _ number: UInt64?, into output: inout [UInt8]
    ) {
        if let number {
            member(key, integer: number, into: &output)
        } else {
            member(null: key, into: &output)
        }
    }
}
