/// What a command brought about: the answer to its submitter, and what must be written to whom.
///
/// The storage is reused from command to command.
public struct Effects: Sendable {
    /// The answer to whoever submitted the command.
    public var outcome: Outcome = .done
    /// The notifications that were dispatched or are replayed; deliveries name them by position.
    public var notifications: [Notification] = []
    /// What goes to which connection, in the order in which it must be written.
    public var deliveries: [Delivery] = []
    /// One receipt for each post of the command, in its order.
    public var receipts: [Receipt] = []
    /// What clients are told besides notifications, each before any delivery of the same command.
    public var notices: [Notice] = []
    /// For each receipt its observers in registration order, if the command asked for them.
    public var reports: [[ReportRow]] = []
    /// Answers to earlier commands that were waited for, and are complete now.
    public var completions: [Completion] = []
    /// Whether there is anything of asks or actions: of the following four.
    public internal(set) var hasAsks = false
    /// What the frames of asks and actions have besides their notifications, in the order of these.
    private var addressed: [(notification: UInt32, Addressed)] = []
    /// Answers to earlier asks that were waited for.
    public var askCompletions: [AskCompletion] = []
    /// The asks that have ended, each once, with how.
    public var askEnds: [AskOutcome] = []
    /// The number of the last ask that is shown as soon as the store has all that has changed so far; 0 for none.
    ///
    /// A `showAnnounced` command must follow then.
    public private(set) var announcement: UInt64 = 0
    /// Whether there is anything of values: of the following two.
    public internal(set) var hasValues = false
    /// The key paths of what is told of values, by the positions of the notifications.
    public internal(set) var keyPaths: [UInt32: [UInt8]] = [:]
    /// The objects whose values have changed.
    public internal(set) var changedValues: [[UInt8]] = []
    /// What must last, in the order in which it happened; empty when nothing must.
    public var changes: [Change] = []

    /// Makes effects with nothing in them.
    public init() {}

    /// Forgets everything, and keeps the storage.
    public mutating func reset() {
        if outcome.hasMore { outcome = .done }
        Self.empty(&notifications, capacityLimit: 1_024)
        Self.empty(&deliveries, capacityLimit: 65_536)
        Self.empty(&receipts, capacityLimit: 1_024)
        Self.empty(&notices, capacityLimit: 1_024)
        Self.empty(&reports, capacityLimit: 16)
        Self.empty(&completions, capacityLimit: 1_024)
        if hasAsks { resetAsks() }
        if hasValues { resetValues() }
        Self.empty(&changes, capacityLimit: 4_096)
    }

    /// Few commands have to do with asks: the others pay for one look.
    private mutating func resetAsks() {
        hasAsks = false
        Self.empty(&addressed, capacityLimit: 1_024)
        Self.empty(&askCompletions, capacityLimit: 1_024)
        Self.empty(&askEnds, capacityLimit: 1_024)
        announcement = 0
    }

    /// An ask is shown as soon as the store knows.
    mutating func noteAnnouncement(_ number: UInt64) {
        hasAsks = true
        announcement = number
    }

    /// What the frame of an ask or an action has besides its notification, by the position of that.
    public func addressed(of notification: UInt32) -> Addressed? {
        let place = addressed.indices.firstPlace { addressed[$0].notification >= notification }
        guard place < addressed.count, addressed[place].notification == notification else {
            return nil
        }
        return addressed[place].1
    }

    /// Notes what the frame of an ask or an action has, whose notification was added last.
    mutating func note(_ more: Addressed, of notification: UInt32) {
        hasAsks = true
        addressed.append((notification, more))
    }

    private mutating func resetValues() {
        hasValues = false
        keyPaths = [:]
        Self.empty(&changedValues, capacityLimit: 1_024)
    }

    /// Adds a notification about a value, and tells its position.
    mutating func append(_ notification: Notification, keyPath: [UInt8]) -> UInt32 {
        hasValues = true
        let position = UInt32(notifications.count)
        notifications.append(notification)
        keyPaths[position] = keyPath
        return position
    }

    /// The value of an object has changed.
    mutating func noteValue(_ object: [UInt8]) {
        hasValues = true
        changedValues.append(object)
    }

    /// Removes all elements; a command mostly leaves one or none, which costs next to nothing.
    @inline(__always)
    private static func empty<Element>(_ elements: inout [Element], capacityLimit: Int) {
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
