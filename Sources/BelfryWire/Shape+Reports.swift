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
            writer.optionalString("name", leak.observer.name, into: &output)
            writer.optionalString("object", leak.observer.object, into: &output)
            writer.member("held", integer: leak.observer.held, into: &output)
            writer.endObject(into: &output)
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
            writer.optionalString("name", row.name, into: &output)
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
