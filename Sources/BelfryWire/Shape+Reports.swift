public import BelfryCenter
internal import BelfryJSON

// Explanations why a delivery does not happen.
extension Shape {
    /// Appends the observers that would get a notification, with the outcomes, and near misses.
    public static func append(
        explanation: Explanation, sight: Sight = .everything, to output: inout [UInt8]
    ) {
        var writer = JSONWriter()
        writer.beginObject(into: &output)
        writer.array("observers", of: explanation.observers, into: &output) { row, output, writer in
            writer.beginObject(into: &output)
            writer.observerID("id", row.row.serial, into: &output)
            writer.member("state", string: row.row.state.text, into: &output)
            writer.member("outcome", string: row.report.outcome.text, into: &output)
            if !explanation.hasUserInfo, row.row.role.filter?.hasCondition == true {
                writer.member("where", bool: true, into: &output)
            }
            if let route = row.report.route {
                append(route, selector: row.row.selector, sight, to: &output)
            }
            if case .unhandled(let failure) = row.report.outcome {
                writer.member("reason", string: failure.text, into: &output)
            }
            writer.endObject(into: &output)
        }
        writer.array("near", of: explanation.nearMisses, into: &output) { miss, output, writer in
            writer.beginObject(into: &output)
            writer.observerID("id", miss.observer.serial, into: &output)
            writer.member("reason", string: miss.reason.text, into: &output)
            writer.endObject(into: &output)
        }
        if explanation.isPartial { writer.member("partial", bool: true, into: &output) }
        writer.next(explanation.next, into: &output)
        writer.endObject(into: &output)
    }

    /// Appends a page of observers that seem forgotten.
    public static func append(leaks page: Page<Leak>, to output: inout [UInt8]) {
        append("observers", page, to: &output) { leak, output, writer in
            writer.beginObject(into: &output)
            writer.observerID("id", leak.observer.serial, into: &output)
            writer.member("reason", string: leak.reason.text, into: &output)
            writer.time("stateSince", leak.observer.stateSince, into: &output)
            append(nameOf: leak.observer, &writer, to: &output)
            append(objectOf: leak.observer, &writer, to: &output)
            writer.member("held", integer: leak.observer.held, into: &output)
            writer.endObject(into: &output)
        }
    }

    /// Appends the name of an observer, or the names or the prefix in its place.
    private static func append(
        nameOf row: ObserverRow, _ writer: inout JSONWriter, to output: inout [UInt8]
    ) {
        if let names = row.role.filter?.names, !names.isEmpty {
            writer.strings("names", names, into: &output)
        } else if let prefix = row.role.filter?.namePrefix {
            writer.member("namePrefix", string: prefix, into: &output)
        } else {
            writer.optionalString("name", row.name, into: &output)
        }
    }

    /// Appends the object of an observer, or the prefix in its place.
    private static func append(
        objectOf row: ObserverRow, _ writer: inout JSONWriter, to output: inout [UInt8]
    ) {
        if let prefix = row.role.filter?.objectPrefix {
            writer.member("objectPrefix", string: prefix, into: &output)
        } else {
            writer.optionalString("object", row.object, into: &output)
        }
    }

    /// Appends the names that are only posted, and the observers of names that are not.
    public static func append(unmatched report: UnmatchedReport, to output: inout [UInt8]) {
        var writer = JSONWriter()
        writer.beginObject(into: &output)
        let posted = report.postedNeverObserved
        writer.array("postedNeverObserved", of: posted, into: &output) { row, output, writer in
            writer.beginObject(into: &output)
            writer.member("name", string: row.name, into: &output)
            writer.member("posts", integer: row.postCount, into: &output)
            writer.endObject(into: &output)
        }
        let observed = report.observedNeverPosted
        writer.array("observedNeverPosted", of: observed, into: &output) { row, output, writer in
            writer.beginObject(into: &output)
            writer.observerID("id", row.serial, into: &output)
            append(nameOf: row, &writer, to: &output)
            writer.endObject(into: &output)
        }
        writer.endObject(into: &output)
    }
}

extension NearMiss.Reason {
    var text: String {
        switch self {
        case .nameDiffersInCase: "name-differs-in-case"
        case .nameDiffersInUnicodeForm: "name-differs-in-unicode-form"
        case .nameDiffersInBlanks: "name-differs-in-blanks"
        case .nameDiffersInSpelling: "name-differs-in-spelling"
        case .objectDiffers: "object-differs"
        case .whereFalse: "where-false"
        }
    }
}

extension Leak.Reason {
    var text: String {
        switch self {
        case .duplicate: "duplicate"
        case .noTarget: "no-target"
        case .disconnected: "disconnected"
        case .neverLooked: "never-looked"
        }
    }
}
