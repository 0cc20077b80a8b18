import BelfryBytes
public import BelfryCenter
internal import BelfryJSON

// Asks: the shapes for the asker, for the responder, and for listings.
extension Shape {
    /// Appends the answer to an ask: a responder's, the default, or that it was asked or withdrawn.
    ///
    /// An ask that failed is reported as its problem.
    public static func append(
        ask outcome: AskOutcome, sight: Sight = .everything, to output: inout [UInt8]
    ) {
        if case .failed(let failure) = outcome.state {
            var writer = JSONWriter()
            Problem(failure, id: outcome.id, path: outcome.path, sight)
                .append(to: &output, with: &writer)
            return
        }
        output.append(literal: #"{"id":""#)
        outcome.id.append(to: &output)
        switch outcome.state {
        case .answered, .fallback, .failed: output.append(literal: #"""#)
        case .open: output.append(literal: #"","outcome":"asked""#)
        case .withdrawn: output.append(literal: #"","outcome":"withdrawn""#)
        }
        append(restOf: outcome, sight, to: &output)
        output.append(UInt8(ascii: "}"))
    }

    /// Appends the answer and its source, if there is one, and the addresses that were asked.
    private static func append(
        restOf outcome: AskOutcome, _ sight: Sight, to output: inout [UInt8]
    ) {
        let seen = sight.seen(of: outcome.path)
        let isPartial = seen.count < outcome.path.count
        switch outcome.state {
        case .open: return
        case .answered(let answer):
            output.append(literal: #","answer":"#)
            output += answer.content
            output.append(literal: #","by":"responder""#)
            if !isPartial {
                if answer.principal.isEmpty || answer.principal == anonymous {
                    output.append(literal: #","answeredBy":null,"observer":""#)
                } else {
                    output.append(literal: #","answeredBy":"#)
                    JSONWriter.append(string: answer.principal.span, to: &output)
                    output.append(literal: #","observer":""#)
                }
                IdentifierText.append(observer: answer.observer, to: &output)
                output.append(UInt8(ascii: "\""))
            }
            if let reason = answer.reason {
                output.append(literal: #","reason":"#)
                JSONWriter.append(string: reason.span, to: &output)
            }
            output.append(literal: #","path":["#)
        case .fallback(let answer, let failure):
            output.append(literal: #","answer":"#)
            output += answer
            output.append(literal: #","by":"default","reason":""#)
            output += failure.text.utf8
            output.append(literal: #"","path":["#)
        case .failed, .withdrawn: output.append(literal: #","path":["#)
        }
        var isFirst = true
        for address in seen {
            if !isFirst { output.append(UInt8(ascii: ",")) }
            JSONWriter.append(string: address.span, to: &output)
            isFirst = false
        }
        output.append(literal: isPartial ? #"],"partial":true"# : "]")
    }

    /// The principal of all callers without credentials.
    public static let anonymous = Array("anonymous".utf8)

    /// Appends the fate of an ask.
    public static func append(
        askFate outcome: AskOutcome, sight: Sight = .everything, to output: inout [UInt8]
    ) {
        var writer = JSONWriter()
        writer.beginObject(into: &output)
        writer.notificationID("id", outcome.id, into: &output)
        writer.member("state", string: outcome.state.text, into: &output)
        switch outcome.state {
        case .open(let deadline):
            writer.time("expiresAt", deadline, into: &output)
            writer.path(outcome.path, sight, into: &output)
        case .answered, .fallback, .withdrawn: append(restOf: outcome, sight, to: &output)
        case .failed(let failure):
            writer.key("problem", into: &output)
            Problem(failure, id: outcome.id, path: outcome.path, sight)
                .append(to: &output, with: &writer)
        }
        writer.endObject(into: &output)
    }

    /// Appends a page of open asks.
    public static func append(
        asks page: Page<AskRow>, sight: Sight = .everything, to output: inout [UInt8]
    ) {
        append("asks", page, to: &output) { row, output, writer in
            writer.beginObject(into: &output)
            writer.notificationID("id", row.id, into: &output)
            writer.member("object", string: row.object, into: &output)
            writer.member("selector", string: row.selector, into: &output)
            if sight.seesAll(of: row.path), row.observer > 0 {
                writer.observerID("observer", row.observer, into: &output)
            }
            writer.path(row.path, sight, into: &output)
            writer.time("askedAt", row.askedAt, into: &output)
            writer.time("answerBy", row.answerBy, into: &output)
            writer.member("state", string: row.isShown ? "delivered" : "held", into: &output)
            if let present = row.present {
                writer.key("present", into: &output)
                writer.raw(present, into: &output)
            }
            writer.endObject(into: &output)
        }
    }

    /// Appends a page of responders.
    public static func append(
        responders page: Page<ResponderRow>, center: [UInt8], to output: inout [UInt8]
    ) {
        append("responders", page, to: &output) { row, output, writer in
            append(row.observer, center: center, asks: row, to: &output, with: &writer)
        }
    }

    /// Appends all holders of an address.
    public static func append(
        responders rows: [ResponderRow], center: [UInt8], to output: inout [UInt8]
    ) {
        append(responders: Page(rows: rows), center: center, to: &output)
    }

    /// Appends the responders that would be asked.
    public static func append(
        ask explanation: AskExplanation, sight: Sight = .everything, to output: inout [UInt8]
    ) {
        let isWhole = sight.seesAll(of: explanation.path)
        var writer = JSONWriter()
        writer.beginObject(into: &output)
        writer.key("ask", into: &output)
        writer.beginObject(into: &output)
        writer.member("outcome", string: explanation.outcome.text, into: &output)
        if isWhole, let observer = explanation.outcome.observer {
            writer.observerID("observer", observer, into: &output)
        }
        writer.path(explanation.path, sight, into: &output)
        // They come in the order of the path.
        let skipped = explanation.skipped.prefix { sight.sees($0.object) }
        writer.array("skipped", of: Array(skipped), into: &output) { skipped, output, writer in
            writer.beginObject(into: &output)
            writer.member("object", string: skipped.object, into: &output)
            if let observer = skipped.observer {
                writer.observerID("observer", observer, into: &output)
            }
            writer.member("reason", string: skipped.reason.text, into: &output)
            writer.endObject(into: &output)
        }
        if isWhole, explanation.isPartial { writer.member("partial", bool: true, into: &output) }
        writer.endObject(into: &output)
        writer.endObject(into: &output)
    }

    /// Appends an ask or an action for its responder: a notification with the responder's address.
    ///
    /// An ask has its deadline, an action its method where the frame does not have it.
    static func append(
        _ notification: Notification, _ addressed: Addressed, observer: UInt64?,
        isRedelivered: Bool, isOneLine: Bool, namesMethod: Bool = true, to output: inout [UInt8]
    ) {
        append(
            notification, isRedelivered: isRedelivered, observer: observer, isOneLine: isOneLine,
            to: &output)
        output.removeLast()
        output.append(literal: #","target":"#)
        JSONWriter.append(string: addressed.target, to: &output)
        switch addressed.kind {
        case .ask(let answerBy, let present):
            output.append(literal: #","answerBy":""#)
            TimeText.append(milliseconds: answerBy, to: &output)
            output.append(UInt8(ascii: "\""))
            if let present {
                output.append(literal: #","present":"#)
                output += present
            }
        case .action(let selector, _):
            if namesMethod {
                output.append(literal: #","selector":"#)
                JSONWriter.append(string: selector, to: &output)
            }
        }
        output.append(UInt8(ascii: "}"))
    }
}

extension AskOutcome.State {
    /// The word of a fate for it.
    fileprivate var text: String {
        switch self {
        case .open: "asked"
        case .answered, .fallback: "answered"
        case .failed: "failed"
        case .withdrawn: "withdrawn"
        }
    }
}

extension AskExplanation.Outcome {
    fileprivate var text: String {
        switch self {
        case .delivered: "delivered"
        case .held: "held"
        case .failed(let failure): failure.text
        }
    }

    fileprivate var observer: UInt64? {
        switch self {
        case .delivered(let observer), .held(let observer): observer
        case .failed: nil
        }
    }
}

extension JSONWriter {
    /// Writes the addresses of a path that are seen, and whether there are more.
    mutating func path(_ path: [[UInt8]], _ sight: Sight, into output: inout [UInt8]) {
        let seen = sight.seen(of: path)
        strings("path", seen, into: &output)
        if seen.count < path.count { member("partial", bool: true, into: &output) }
    }
}
