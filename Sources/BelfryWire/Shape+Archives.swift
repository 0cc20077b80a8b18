public import BelfryCenter
internal import BelfryJSON

// Archives, and pages of what they keep.
extension Shape {
    /// Appends an archive.
    ///
    /// - Parameter hasFigures: whether what it keeps is told, too.
    public static func append(
        archive row: ArchiveRow, hasFigures: Bool, to output: inout [UInt8]
    ) {
        var writer = JSONWriter()
        append(row, hasFigures: hasFigures, to: &output, with: &writer)
    }

    private static func append(
        _ row: ArchiveRow, hasFigures: Bool, to output: inout [UInt8],
        with writer: inout JSONWriter
    ) {
        let terms = row.terms
        writer.beginObject(into: &output)
        writer.member(row.name.isPrefix ? "namePrefix" : "name", string: row.name.text, into: &output)
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
        writer.member("since", integer: row.since, into: &output)
        if terms.isConfigured { writer.member("configured", bool: true, into: &output) }
        if hasFigures {
            writer.member("kept", integer: row.keptCount, into: &output)
            writer.member("keptBytes", integer: row.keptByteCount, into: &output)
            writer.optional(
                "firstSeq", row.keptCount > 0 ? row.firstSequence : nil, into: &output)
            writer.optional("lastSeq", row.keptCount > 0 ? row.lastSequence : nil, into: &output)
        }
        writer.endObject(into: &output)
    }

    /// Appends archives.
    public static func append(archives page: Page<ArchiveRow>, to output: inout [UInt8]) {
        append("archives", page, to: &output) { row, output, writer in
            append(row, hasFigures: true, to: &output, with: &writer)
        }
    }

    /// Appends a page of the past.
    ///
    /// - Parameters:
    ///   - lost: a loss behind the beginning, from one number to another.
    ///   - sequence: the number from which a registration goes on without a hole.
    public static func append(
        past page: PastPage, of request: PastRequest, lost: ClosedRange<UInt64>?, sequence: UInt64,
        epoch: [UInt8], to output: inout [UInt8]
    ) {
        output.append("{\"notifications\":[")
        let isReversed = request.query.looksDown != request.isNewestFirst
        let rows = isReversed ? page.notifications.reversed() : page.notifications
        for (index, row) in rows.enumerated() {
            if index > 0 { output.append(",") }
            append(notification: row, isRedelivered: false, to: &output)
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
        if page.hasMore, !request.isWhole, let last = page.notifications.last {
            JSONWriter.append(integer: last.sequence, to: &output)
        } else {
            output.append("null")
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
