/// The marks of how far connections were written, by the indexes that brokers have applied.
///
/// There is a mark for each entry and each center whose sequence number it has moved, and one for
/// each delivery that no number covers: held notifications, actions and losses.
struct WrittenMarks: Sendable {
    /// An entry that has moved the sequence number of a center.
    struct Mark: Sendable {
        let index: UInt64
        /// The number before the entry.
        let sequence: UInt64
        let center: UInt32
    }

    /// A delivery of an entry that no number covers.
    struct Late: Sendable {
        let index: UInt64
        let center: UInt32
        let connection: ConnectionName
        let delivery: LateDelivery
    }

    /// The number of kept marks of entries, in 1.5 MB: that of ``LogPast``, with a center each.
    static let limit = LogPast.limit
    /// The number of the other kept marks, in 1.5 MB.
    static let lateLimit = 16_384
    /// The number of entries by which marks outlive their application by all brokers.
    ///
    /// The end of a connection may wait behind full entries of its broker, and name an index below
    /// that of the entry before.
    static let patience: UInt64 = 1_024

    private var marks = Ring<Mark>()
    private var late = Ring<Late>()
    /// Marks up to this index may be forgotten.
    private var forgottenThrough: UInt64 = 0
    /// The number of each center in the marks, by its position: no other center ever has it.
    private var centers: [UInt32] = []
    private var lastCenter: UInt32 = 0

    // MARK: What a snapshot does not have

    /// Sequence numbers before the present entry, of the centers that had a command in it.
    private var starts: [UInt32: UInt64] = [:]
    /// The last result of a search: a life that ends searches for each of its connections.
    private var found: Found?

    /// The marks of a center behind an index.
    private struct Found: Sendable {
        let center: UInt32
        let index: UInt64
        /// The end of the marks at that time.
        let markEnd: UInt64
        let lateEnd: UInt64
        /// The number at that index, if a mark has it.
        let sequence: UInt64?
        let late: [ConnectionName: [LateDelivery]]
    }

    // MARK: Centers

    /// Adds a center at the position behind all others.
    mutating func addCenter() {
        lastCenter += 1
        centers.append(lastCenter)
    }

    /// Removes a center that has ended; the last one has moved to its position.
    mutating func removeCenter(at position: Int) {
        centers.swapAt(position, centers.count - 1)
        centers.removeLast()
    }

    // MARK: What an entry brings about

    /// Notes the number of a center that is about to get a command.
    mutating func begin(at position: Int, sequence: UInt64) {
        if starts[centers[position]] == nil { starts[centers[position]] = sequence }
    }

    /// Notes the deliveries of a command that numbers do not cover.
    mutating func note(_ effects: Effects, at position: Int, of index: UInt64) {
        let center = centers[position]
        let start = starts[center] ?? 0
        if effects.hasAsks || effects.notifications.contains(where: { $0.sequence <= start }) {
            var seen: Set<UInt64> = []
            // Bound: effects
            for delivery in effects.deliveries where delivery.transport.canResume {
                let sequence = effects.notifications[Int(delivery.notification)].sequence
                let content: LateDelivery.Content
                switch delivery.form {
                case .shared, .change:
                    // The numbers for one observer rise: the first shows where all of them begin.
                    guard sequence <= start, seen.insert(delivery.observer).inserted else {
                        continue
                    }
                    content = .notification(sequence)
                case .action: content = .action(sequence)
                // Its client has to answer it: it is redelivered by itself.
                case .acknowledged, .named, .ask, .acknowledgedAction: continue
                }
                append(
                    Late(
                        index: index, center: center, connection: delivery.connection,
                        delivery: LateDelivery(observer: delivery.observer, content: content)))
            }
        }
        for case .gap(let connection, let transport, let gap) in effects.notices  // Bound: effects
        where transport.canResume {
            append(
                Late(
                    index: index, center: center, connection: connection,
                    delivery: LateDelivery(
                        observer: gap.observer, content: .gap(GapRecord(gap)))))
        }
    }

    /// Adds the mark of a center that had a command in the entry that ends.
    mutating func end(at position: Int, sequence: UInt64, of index: UInt64) {
        let center = centers[position]
        guard let start = starts[center], start != sequence else { return }
        if marks.count == Self.limit { forget(marks.removeFirst().index) }
        marks.append(Mark(index: index, sequence: start, center: center))
    }

    /// Ends an entry, and forgets marks that all brokers that are up have passed.
    mutating func endEntry(appliedByAll index: UInt64) {
        starts.removeAll(keepingCapacity: starts.capacity <= 1_024)
        found = nil
        guard index > Self.patience else { return }
        let last = index - Self.patience
        while let first = marks.first, first.index <= last { marks.removeFirst() }  // Bound: late
        while let first = late.first, first.index <= last { late.removeFirst() }  // Bound: late
        forget(last)
    }

    /// Forgets all marks: the progress of brokers that had applied less than the index is unknown.
    mutating func forgetAll(through index: UInt64) {
        marks = Ring()
        late = Ring()
        found = nil
        // Entries of the former log may have had greater indexes.
        forgottenThrough = index
    }

    private mutating func append(_ mark: Late) {
        if late.count == Self.lateLimit { forget(late.removeFirst().index) }
        late.append(mark)
    }

    private mutating func forget(_ index: UInt64) {
        forgottenThrough = max(forgottenThrough, index)
    }

    // MARK: What it tells

    /// The progress of writing to a connection whose broker had applied the entries up to an index.
    ///
    /// - Parameters:
    ///   - sequence: The present number of the center.
    ///   - isCertain: Whether nothing was written behind that.
    /// - Returns: nil if everything was written.
    mutating func written(
        to connection: ConnectionName, through index: UInt64, at position: Int,
        sequence: UInt64, isCertain: Bool
    ) -> WrittenThrough? {
        guard index >= forgottenThrough else {
            return WrittenThrough(sequence: nil, isCertain: false, late: [])
        }
        let center = centers[position]
        let found = find(center, behind: index)
        self.found = found
        let through = found.sequence ?? starts[center] ?? sequence
        let late = found.late[connection] ?? []
        if through == sequence, late.isEmpty { return nil }
        return WrittenThrough(sequence: through, isCertain: isCertain, late: late)
    }

    private func find(_ center: UInt32, behind index: UInt64) -> Found {
        if let found, found.center == center, found.index == index,
            found.markEnd == marks.endPosition, found.lateEnd == late.endPosition
        {
            return found
        }
        let first = (marks.startPosition..<marks.endPosition)
            .firstPlace { marks[$0].index > index }
        let mark = (first..<marks.endPosition).first { marks[$0].center == center }
        let firstLate = (late.startPosition..<late.endPosition)
            .firstPlace { late[$0].index > index }
        var deliveries: [ConnectionName: [LateDelivery]] = [:]
        // Bound: late
        for position in firstLate..<late.endPosition where late[position].center == center {
            deliveries[late[position].connection, default: []].append(late[position].delivery)
        }
        return Found(
            center: center, index: index, markEnd: marks.endPosition, lateEnd: late.endPosition,
            sequence: mark.map { marks[$0].sequence }, late: deliveries)
    }
}

extension WrittenMarks: Coded {
    init(_ known: WrittenMarks?, by coder: inout some Coder) throws(CodeError) {
        marks = try coder(known?.marks)
        late = try coder(known?.late)
        forgottenThrough = try coder(known?.forgottenThrough)
        centers = try coder(known?.centers)
        lastCenter = try coder(known?.lastCenter)
    }
}

extension WrittenMarks.Mark: Coded {
    init(_ known: WrittenMarks.Mark?, by coder: inout some Coder) throws(CodeError) {
        index = try coder(known?.index)
        sequence = try coder(known?.sequence)
        center = try coder(known?.center)
    }
}

extension WrittenMarks.Late: Coded {
    init(_ known: WrittenMarks.Late?, by coder: inout some Coder) throws(CodeError) {
        index = try coder(known?.index)
        center = try coder(known?.center)
        connection = try coder(known?.connection)
        delivery = try coder(known?.delivery)
    }
}

extension LateDelivery: Coded {
    init(_ known: LateDelivery?, by coder: inout some Coder) throws(CodeError) {
        observer = try coder(known?.observer)
        content = try coder(known?.content)
    }
}

extension LateDelivery.Content: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .notification(let sequence): try coder.write(case: 0, sequence)
        case .action(let sequence): try coder.write(case: 1, sequence)
        case .gap(let gap): try coder.write(case: 2, gap)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> LateDelivery.Content {
        switch number {
        case 0: .notification(try coder.next())
        case 1: .action(try coder.next())
        case 2: .gap(try coder.next())
        default: throw .malformed
        }
    }
}

extension GapRecord {
    /// The loss that an observer was told.
    init(_ gap: Gap) {
        self.init(
            reason: gap.reason, count: gap.lostCount, first: gap.firstSequence,
            last: gap.lastSequence)
    }
}
