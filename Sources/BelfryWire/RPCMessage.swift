/// One text message of JSON-RPC 2.0: a call, or a batch of them.
public struct RPCMessage: Sendable, Equatable {
    /// The calls in their order; a faulty element is ``RPCCall/invalid(id:code:detail:)``.
    public var calls: [RPCCall]
    /// Whether the answers belong into an array.
    public var isBatch: Bool
}

/// One call of a message; the ranges are of the message's bytes.
public enum RPCCall: Sendable, Equatable {
    /// A call that is answered; the id is the raw JSON that the answer repeats.
    case request(id: [UInt8], method: [UInt8], params: Range<Int>?)
    /// A call that is never answered.
    case notification(method: [UInt8], params: Range<Int>?)
    /// The answer to a call of ours: its result, or its error.
    ///
    /// The data beside a result begin at a place of the text; 0 for none.
    case response(id: [UInt8], content: Range<Int>, isError: Bool, dataStart: Int)
    /// Something that cannot be called; it is answered unless the id is nil.
    case invalid(id: [UInt8]?, code: RPCErrorCode, detail: String)
}

/// The faults of JSON-RPC itself (JSON-RPC 2.0 §5.1), and the code under which problems are told.
public enum RPCErrorCode: Int, Sendable, Equatable {
    /// The text is no JSON.
    case parseError = -32_700
    /// The JSON is no request.
    case invalidRequest = -32_600
    /// The method does not exist.
    case methodNotFound = -32_601
    /// The params are no object.
    case invalidParams = -32_602
    /// The broker failed.
    case internalError = -32_603
    /// The `data` of the error is a problem document.
    case problem = -32_000

    /// The message that the specification gives the code.
    public var message: String {
        switch self {
        case .parseError: "Parse error"
        case .invalidRequest: "Invalid Request"
        case .methodNotFound: "Method not found"
        case .invalidParams: "Invalid params"
        case .internalError: "Internal error"
        case .problem: "Problem"
        }
    }
}
