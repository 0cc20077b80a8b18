import BelfryBytes
internal import BelfryCenter
internal import BelfryJSON

// The parts of receipts that the posts of the benchmarks do not have.
extension Shape {
    static func appendOtherCounts(of receipt: Receipt, to output: inout [UInt8]) {
        append(",\"held\":", receipt.held, to: &output)
        append(",\"coalesced\":", receipt.coalesced, to: &output)
        append(",\"dropped\":", receipt.dropped, to: &output)
        append(",\"acknowledged\":", receipt.acknowledged, to: &output)
        append(",\"refused\":", receipt.refused, to: &output)
        append(",\"pending\":", receipt.pending, to: &output)
        append(",\"dequeued\":", receipt.dequeued, to: &output)
        if receipt.isKept { output.append(",\"kept\":true") }
    }

    private static func append(_ key: String, _ count: UInt32, to output: inout [UInt8]) {
        output.append(key)
        JSONWriter.append(integer: UInt64(count), to: &output)
    }

    static func append(_ rows: [ReportRow], _ sight: Sight, to output: inout [UInt8]) {
        output.append(",\"observers\":[")
        for index in rows.indices {
            output.append(index == 0 ? "{\"id\":\"" : ",{\"id\":\"")
            IdentifierText.append(observer: rows[index].observer, to: &output)
            output.append("\",\"outcome\":\"")
            output.append(rows[index].outcome.text)
            output.append("\"")
            if let route = rows[index].route { append(route, sight, to: &output) }
            switch rows[index].outcome {
            case .answered(let result):
                output.append(",\"result\":")
                output.append(result.span)
            case .resultOmitted: output.append(",\"resultOmitted\":true")
            case .refused(let error):
                output.append(",\"error\":")
                output.append(error.span)
            case .unhandled(let failure):
                output.append(",\"reason\":\"")
                output.append(failure.text)
                output.append("\"")
            default: break
            }
            output.append("}")
        }
        output.append("]")
    }

    /// Appends the route of an action, as members behind the outcome.
    ///
    /// Its path is appended where it is longer than one address, has no holder or is partly hidden.
    ///
    /// - Parameter selector: the action, where it is known.
    static func append(
        _ route: ActionRoute, selector: [UInt8]? = nil, _ sight: Sight, to output: inout [UInt8]
    ) {
        let seen = sight.seen(of: route.path, selector: selector)
        let isPartial = seen.count < route.path.count
        if let target = seen.first {
            output.append(",\"target\":")
            JSONWriter.append(string: target, to: &output)
        }
        if let responder = route.responder, !isPartial {
            output.append(",\"observer\":\"")
            IdentifierText.append(observer: responder, to: &output)
            output.append("\"")
            if seen.count == 1 { return }
        }
        output.append(",\"path\":[")
        for index in seen.indices {
            if index > 0 { output.append(",") }
            JSONWriter.append(string: seen[index], to: &output)
        }
        output.append(isPartial ? "],\"partial\":true" : "]")
    }

    /// Appends the outcome of a post, without counts: `{"id":"…","state":"queued"}`.
    ///
    /// - Parameter key: the text between both values, in one piece.
    static func append(_ receipt: Receipt, key: String, to output: inout [UInt8]) {
        output.append("{\"id\":\"")
        receipt.id.append(to: &output)
        output.append(key)
        if case .coalesced(let survivor) = receipt.state {
            output.append("coalesced\",\"into\":\"")
            survivor.append(to: &output)
        } else {
            output.append(receipt.state.text)
        }
        output.append("\"")
        if case .timed(let dueAt) = receipt.state {
            if let dueAt {
                output.append(",\"dueAt\":\"")
                TimeText.append(milliseconds: dueAt, to: &output)
                output.append("\"")
            }
            if receipt.dequeued > 0 { append(",\"dequeued\":", receipt.dequeued, to: &output) }
        }
        output.append("}")
    }
}

extension Receipt {
    /// Whether a count is not zero that needs a queue, suspension or acknowledgement.
    var hasOtherCounts: Bool {
        held | coalesced | dropped | acknowledged | refused | pending | dequeued != 0 || isKept
    }
}

extension Receipt.State {
    var text: String {
        switch self {
        case .posted: "posted"
        case .queued, .timed: "queued"
        case .coalesced: "coalesced"
        case .dequeued: "dequeued"
        case .expired: "expired"
        }
    }
}
