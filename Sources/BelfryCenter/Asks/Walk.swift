/// A walk along the addresses, and its result (rules R4 to R9).
struct Walk: Sendable {
    /// The addresses that were asked, in order.
    var path: [[UInt8]]
    /// The observers that were shown the ask: each is asked once.
    private let passed: FewList<UInt64>
    /// The same observers where they are many.
    private let passedSet: Set<UInt64>
    /// Whether a holder that implements the selector was busy, or suspended.
    var saw: Saw = []
    /// The observer that has just handed the ask on.
    var handedOnBy: UInt64?
    /// The number of looks: three a hop, and one for each holder that implements the selector.
    var lookCount = 0
    /// Skipped holders and addresses, with the reasons; nil where no caller wants them.
    var skipped: [AskExplanation.Skipped]?
    /// Whether more were skipped than are listed.
    private(set) var isPartial = false
    var end = End.nobody

    /// The price of a hop: finding an address by its text costs as much as so many holders.
    static let looksOfHop = 3
    /// The price of showing or ending an ask that walks again.
    static let looksOfTurn = 40
    /// The looks of one command for the walks that are left over, some 1 ms.
    static let share = 20_000
    /// The largest number of such observers for which no set is made.
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

    /// Notes why a holder of the selector cannot be asked; not for the one that just handed on.
    ///
    /// That one has said why it does not answer (rule R9).
    mutating func note(_ reason: AskExplanation.Reason?, of holder: UInt64) {
        if holder == handedOnBy { return }
        if reason == .busy { saw.insert(.busy) }
        if reason == .suspended { saw.insert(.suspended) }
    }

    /// Notes a skipped holder, where the caller wants to know.
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

    /// The holders of the selector that a walk has passed (rule R9).
    struct Saw: OptionSet, Sendable {
        let rawValue: UInt8

        static let busy = Saw(rawValue: 1 << 0)
        static let suspended = Saw(rawValue: 1 << 1)
    }

    /// The result of a walk.
    enum End: Sendable {
        /// This observer may be asked.
        case ask(slot: UInt32)
        /// This observer will be asked when it is live and has room.
        case hold(slot: UInt32)
        /// No observer can be asked.
        case nobody
    }
}
