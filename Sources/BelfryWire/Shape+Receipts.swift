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
    }

    private static func append(_ key: String, _ count: UInt32, to output: inout [UInt8]) {
        output.append(key)
        JSONWriter.append(integer: UInt64(count), to: &output)
    }

    static func append(_ rows: [ReportRow], to output: inout [UInt8]) {
        output.append(",\"observers\":[")
        for index in rows.indices {
            output.append(index == 0 ? "{\"id\":\"" : ",{\"id\":\"")
            IdentifierText.append(observer: rows[index].observer, to: &output)
            output.append("\",\"outcome\":\"")
            output.append(rows[index].outcome.text)
            output.append("\"")
            switch rows[index].outcome {
            case .answered(let result):
                output.append(",\"result\":")
                output.append(result.span)
            case .resultOmitted: output.append(",\"resultOmitted\":true")
            case .refused(let error):
                output.append(",\"error\":")
                output.append(error.span)
            default: break
            }
            output.append("}")
        }
        output.append("]")
    }

    /// Appends what became of a post, without counts: `{"id":"…","state":"queued"}`.
    ///
    /// - Parameter key: what stands between both values, in one piece.
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
        output.append("\"}")
    }
}

extension Receipt {
    /// Whether a count is not zero that needs a queue, suspension or acknowledgement.
    var hasOtherCounts: Bool {
        held | coalesced | dropped | acknowledged | refused | pending | dequeued != 0
    }
}

extension Receipt.State {
    var text: String {
        switch self {
        case .posted: "posted"
        case .queued: "queued"
        case .coalesced: "coalesced"
        case .dequeued: "dequeued"
        case .expired: "expired"
        }
    }
}
