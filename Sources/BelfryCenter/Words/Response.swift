/// The response of a client to a delivery that it must answer.
public enum Response: Sendable, Equatable {
    /// The client has done it; the result as JSON text, and whether a receipt has room for it.
    ///
    /// The reason is for the asker of an ask.
    case result([UInt8], canKeep: Bool = true, reason: [UInt8]? = nil)
    /// The client has done it, with a result past the limits; an ask is refused with this error.
    case oversized(error: [UInt8])
    /// The client refuses; the JSON-RPC error as it was sent, at most 1 KiB.
    case refusal([UInt8])
    /// The client hands on, so that another responder answers (rule R7).
    ///
    /// The error is as it was sent; it counts where there is no other responder.
    case passed([UInt8])
}

extension Response {
    /// The outcome of a notification at the observer that responds with this.
    var outcome: ReportRow.Outcome {
        switch self {
        case .result(let json, let canKeep, _):
            if json.isEmpty || json == Self.null { return .acknowledged }
            let isKept = canKeep && json.count <= ReportRow.resultByteLimit
            return isKept ? .answered(result: json) : .resultOmitted
        case .oversized: return .resultOmitted
        case .refusal(let error), .passed(let error): return .refused(error: error)
        }
    }

    /// The error, if the response refuses or hands on.
    public var refusal: [UInt8]? {
        if case .refused(let error) = outcome { error } else { nil }
    }

    private static let null = [UInt8]("null".utf8)
}
