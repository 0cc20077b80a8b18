/// A method that a client can call.
enum CallMethod: String, CaseIterable {
    case addObserver
    case removeObserver
    case post
    case ask
    case withdraw
    case setValue
    case mergeValue
    case removeValue
    case value
    case dequeue
    case setSuspended
    case resume
    case observers
    case explain
    case enterMode
    case leaveMode
    case ping

    /// Whether the answer, or the deliveries behind it, may be much larger than the call.
    var mayAnswerMuch: Bool {
        switch self {
        case .addObserver, .value, .observers, .explain: true
        case .removeObserver, .post, .ask, .withdraw, .setValue, .mergeValue, .removeValue,
            .dequeue, .setSuspended, .resume, .enterMode, .leaveMode, .ping:
            false
        }
    }

    /// The names as bytes: making a text of each call would cost more than all comparisons.
    private static let names = allCases.map { (text: Array($0.rawValue.utf8), method: $0) }

    init?(_ name: [UInt8]) {
        // Bound: few
        for (text, method) in Self.names where text.count == name.count && text == name {
            self = method
            return
        }
        return nil
    }
}
