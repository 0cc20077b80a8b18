/// The events that wait for the sequencer, bounded in bytes.
struct EventLine {
    private var events: ArraySlice<JournalEvent> = []
    private(set) var byteCount = 0
    let byteLimit: Int

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    var isEmpty: Bool { events.isEmpty }

    /// Adds an event; one that has no room is dropped, as anything may be that a journal tells.
    ///
    /// A snapshot is not: it may have more than the room, was asked for, and took long to come.
    mutating func append(_ event: JournalEvent) {
        guard event.isSnapshot || byteCount + event.byteCount <= byteLimit || isEmpty else {
            return
        }
        byteCount += event.byteCount
        events.append(event)
    }

    mutating func popFirst() -> JournalEvent? {
        guard let event = events.popFirst() else { return nil }
        byteCount -= event.byteCount
        // Taken events are not kept in front of the ones to come.
        if events.isEmpty { events = [] }
        return event
    }
}

extension JournalEvent {
    fileprivate var isSnapshot: Bool {
        if case .snapshot = self { true } else { false }
    }

    /// The memory that it takes, about.
    fileprivate var byteCount: Int {
        let content =
            switch self {
            case .entry(_, let entry): entry.count
            case .snapshot(let snapshot): snapshot?.state.count ?? 0
            case .beat(let beat): beat.node.count
            case .appended, .refused, .end, .trimmed, .saved, .reconnected: 0
            }
        return content + 128
    }
}
