/// Where a walk along the addresses ends (rules R4 to R9).
struct Walk: Sendable {
    /// The addresses that were asked, in order.
    var path: [[UInt8]]
    /// Those who were shown the ask: nobody is asked twice.
    private let passed: FewList<UInt64>
    /// The same where they are many.
    private let passedSet: Set<UInt64>
    /// Whether one who implements the selector was busy, or suspended.
    var sawBusy = false
    var sawSuspended = false
    /// The observer that has just handed the ask on.
    var handedOnBy: UInt64?
    /// The number of looks: three a hop, and one for each holder that implements the selector.
    var lookCount = 0
    /// Those that were stepped over, and why; nil where nobody wants to know.
    var skipped: [AskExplanation.Skipped]?
    /// Whether more were stepped over than are told.
    private(set) var isPartial = false
    var end = End.nobody

    /// The price of a hop: finding an address by its text costs as much as so many holders.
    static let looksOfHop = 3
    /// The price of showing or ending an ask that walks again.
    static let looksOfTurn = 40
    /// The looks of one command for the walks that are left over, some 1 ms.
    static let share = 20_000
    /// The number of those who were shown the ask up to which no set is made of them.
    private static let fewPassed = 16

    /// Starts at the last address of a path.
    @inline(__always)
    init(path: [[UInt8]], passing shown: FewList<UInt64>) {
        self.path = path
        passed = shown
        guard shown.count > Self.fewPassed else {
            passedSet = []
            return
        }
        passedSet = Set(shown.all)
        lookCount = shown.count
    }

    /// Whether an observer was shown the ask before.
    @inline(__always)
    func hasPassed(_ observer: UInt64) -> Bool {
        passedSet.isEmpty ? passed.contains(observer) : passedSet.contains(observer)
    }

    /// Counts why a holder that implements the selector cannot be asked; the one that has just
    /// handed on has said why it does not answer (rule R9).
    mutating func note(_ reason: AskExplanation.Reason?, of holder: UInt64) {
        if holder == handedOnBy { return }
        if reason == .busy { sawBusy = true }
        if reason == .suspended { sawSuspended = true }
    }

    /// Notes a holder that is stepped over, where somebody wants to know.
    mutating func skip(
        _ address: [UInt8], observer: UInt64?, _ reason: AskExplanation.Reason
    ) {
        guard let count = skipped?.count else { return }
        guard count < AskExplanation.skippedLimit else {
            isPartial = true
            return
        }
        skipped?.append(.init(object: address, observer: observer, reason: reason))
    }

    /// What a walk comes to.
    enum End: Sendable {
        /// This observer may be asked.
        case ask(slot: UInt32)
        /// This observer will be asked when it is live and has room.
        case hold(slot: UInt32)
        /// There is nobody.
        case nobody
    }
}
