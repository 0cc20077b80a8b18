/// The effects of a command: the answer to its submitter, and the output to connections.
///
/// The storage is reused from command to command.
public struct Effects: Sendable {
    /// The answer to the submitter of the command.
    public var outcome: Outcome = .done
    /// The notifications that were dispatched or are replayed; deliveries name them by position.
    public var notifications: [Notification] = []
    /// Deliveries to connections, in the order in which they must be written.
    public var deliveries: [Delivery] = []
    /// One receipt for each post of the command, in its order.
    public var receipts: [Receipt] = []
    /// Messages to clients besides notifications, each before any delivery of the same command.
    public var notices: [Notice] = []
    /// For each receipt its observers in registration order, if the command asked for them.
    public var reports: [[ReportRow]] = []
    /// Answers to earlier commands that were waited for, and are complete now.
    public var completions: [Completion] = []
    /// Whether one of the following four has an element.
    public internal(set) var hasAsks = false
    /// Additional frame members of asks and actions, in the order of their notifications.
    private var addressed: [(notification: UInt32, Addressed)] = []
    /// Answers to earlier asks that were waited for.
    public var askCompletions: [AskCompletion] = []
    /// The asks that have ended, each once, with their final states.
    public var askEnds: [AskOutcome] = []
    /// The number of the last ask that is shown once the store has all changes so far; 0 for none.
    ///
    /// A `showAnnounced` command must follow then.
    public private(set) var announcement: UInt64 = 0
    /// Whether one of the following two has an element.
    public internal(set) var hasValues = false
    /// The key paths of notifications about values, by the positions of the notifications.
    public internal(set) var keyPaths: [UInt32: [UInt8]] = [:]
    /// The objects whose values have changed.
    public internal(set) var changedValues: [[UInt8]] = []
    /// How many conditions of observers were evaluated.
    public internal(set) var evaluationCount: UInt64 = 0
    /// How many notifications of the past were written.
    public internal(set) var replayedCount: UInt64 = 0
    /// Changes that must last, in the order in which they happened.
    public var changes: [Change] = []

    /// Makes effects with nothing in them.
    public init() {}

    /// Removes everything, and keeps the storage.
    public mutating func reset() {
        if outcome.hasMore { outcome = .done }
        Self.empty(&notifications, capacityLimit: 1_024)
        Self.empty(&deliveries, capacityLimit: 65_536)
        Self.empty(&receipts, capacityLimit: 1_024)
        Self.empty(&notices, capacityLimit: 1_024)
        Self.empty(&reports, capacityLimit: 16)
        Self.empty(&completions, capacityLimit: 1_024)
        (evaluationCount, replayedCount) = (0, 0)
        if hasAsks { resetAsks() }
        if hasValues { resetValues() }
        Self.empty(&changes, capacityLimit: 4_096)
    }

    /// Resets the parts about asks: few commands have any, and the others pay for one check.
    private mutating func resetAsks() {
        hasAsks = false
        Self.empty(&addressed, capacityLimit: 1_024)
        Self.empty(&askCompletions, capacityLimit: 1_024)
        Self.empty(&askEnds, capacityLimit: 1_024)
        announcement = 0
    }

    /// Notes an ask that is shown as soon as the store has it.
    mutating func noteAnnouncement(_ number: UInt64) {
        hasAsks = true
        announcement = number
    }

    /// The additional frame members of an ask or an action, by the position of its notification.
    public func addressed(of notification: UInt32) -> Addressed? {
        let place = addressed.indices.firstPlace { addressed[$0].notification >= notification }
        guard place < addressed.count, addressed[place].notification == notification else {
            return nil
        }
        return addressed[place].1
    }

    /// Adds the frame members of an ask or an action, whose notification was added last.
    mutating func note(_ more: Addressed, of notification: UInt32) {
        hasAsks = true
        addressed.append((notification, more))
    }

    private mutating func resetValues() {
        hasValues = false
        keyPaths = [:]
        Self.empty(&changedValues, capacityLimit: 1_024)
    }

    /// Adds a notification about a value, and returns its position.
    mutating func append(_ notification: Notification, keyPath: [UInt8]) -> UInt32 {
        hasValues = true
        let position = UInt32(notifications.count)
        notifications.append(notification)
        keyPaths[position] = keyPath
        return position
    }

    /// Notes that the value of an object has changed.
    mutating func noteValue(_ object: [UInt8]) {
        hasValues = true
        changedValues.append(object)
    }

    /// Removes all elements; most commands leave one or none, which costs next to nothing.
    @inline(__always)
    static func empty<Element>(_ elements: inout [Element], capacityLimit: Int) {
        if !elements.isEmpty { emptyFull(&elements, capacityLimit: capacityLimit) }
    }

    private static func emptyFull<Element>(_ elements: inout [Element], capacityLimit: Int) {
        if elements.count == 1, elements.capacity <= capacityLimit {
            elements.removeLast()
        } else {
            elements.removeAll(keepingCapacity: elements.capacity <= capacityLimit)
        }
    }
}
