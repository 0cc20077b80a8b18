/// The marks that tell how far connections were written, from the indexes that brokers say they had applied.
///
/// There is one for each entry and each center whose sequence number that has moved, and one for each thing that was to
/// be written and that no number tells: what was held, actions and losses.
struct WrittenMarks: Sendable {
    /// An entry that has moved the sequence number of a center.
    struct Mark: Sendable {
        let index: UInt64
        /// The number before the entry.
        let sequence: UInt64
        let center: UInt32
    }

    /// Something that was to be written with an entry.
    struct Late: Sendable {
        let index: UInt64
        let center: UInt32
        let connection: ConnectionName
        let delivery: LateDelivery
    }

    /// How many marks of entries are kept, in 1.5 MB: as many as ``LogPast`` has where each entry moves one center.
    static let limit = LogPast.limit
    /// How many of the others are kept, in 1.5 MB.
    static let lateLimit = 16_384
    /// For how many entries more than all brokers have applied marks are kept: the end of a connection may wait behind
    /// full entries of its broker, and say an index below that of the entry before.
    static let patience: UInt64 = 1_024

    private var marks = Ring<Mark>()
    private var late = Ring<Late>()
    /// Marks up to this index may be forgotten.
    private var forgottenThrough: UInt64 = 0
    /// What stands for each center in the marks, by its position: no other center ever has it.
    private var centers: [UInt32] = []
    private var lastCenter: UInt32 = 0

    // MARK: What a snapshot does not have

    /// The sequence numbers, before the entry that is applied, of the centers that had a command in it.
    private var starts: [UInt32: UInt64] = [:]
    /// The last answer of the marks: a life that ends asks for each of its connections.
    private var found: Found?

    /// The marks of a center behind an index.
    private struct Found: Sendable {
        let center: UInt32
        let index: UInt64
        /// How many marks there had been.
        let markEnd: UInt64
        let lateEnd: UInt64
        /// The number at that index, if a mark tells it.
        let sequence: UInt64?
        let late: [ConnectionName: [LateDelivery]]
    }

    // MARK: Centers

    /// A center was made, at the position behind all others.
    mutating func addCenter() {
        lastCenter += 1
        centers.append(lastCenter)
    }

    /// A center has ended, and the last one has moved to its position.
    mutating func removeCenter(at position: Int) {
        centers.swapAt(position, centers.count - 1)
        centers.removeLast()
    }

    // MARK: What an entry brings about

    /// A center is about to get a command.
    mutating func begin(at position: Int, sequence: UInt64) {
        if starts[centers[position]] == nil { starts[centers[position]] = sequence }
    }

    /// Notes what a command has brought about, as far as numbers do not tell it.
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
                    // What an observer is written rises: the first tells where all of it begins.
                    guard sequence <= start, seen.insert(delivery.observer).inserted else {
                        continue
                    }
                    content = .notification(sequence)
                case .action: content = .action(sequence)
                // Its client has to answer it: it comes again by itself.
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

    /// An entry is over: adds the mark of a center that had a command in it.
    mutating func end(at position: Int, sequence: UInt64, of index: UInt64) {
        let center = centers[position]
        guard let start = starts[center], start != sequence else { return }
        if marks.count == Self.limit { forget(marks.removeFirst().index) }
        marks.append(Mark(index: index, sequence: start, center: center))
    }

    /// An entry is over; all brokers that are up have applied the entries up to an index.
    mutating func endEntry(appliedByAll index: UInt64) {
        starts.removeAll(keepingCapacity: starts.capacity <= 1_024)
        found = nil
        guard index > Self.patience else { return }
        let last = index - Self.patience
        while let first = marks.first, first.index <= last { marks.removeFirst() }  // Bound: late
        while let first = late.first, first.index <= last { late.removeFirst() }  // Bound: late
        forget(last)
    }

    /// Forgets all marks: if a broker had applied less than the index, the shard cannot tell how far it wrote a connection.
    mutating func forgetAll(through index: UInt64) {
        marks = Ring()
        late = Ring()
        found = nil
        // Entries of before may have had greater indexes.
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

    /// How far a connection was written, whose broker had applied the entries up to an index.
    ///
    /// - Parameters:
    ///   - sequence: the number of the center now.
    ///   - isCertain: whether nothing was written behind that.
    /// - Returns: nil where it was written everything.
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
    /// A loss as its observer was told it.
    init(_ gap: Gap) {
        self.init(
            reason: gap.reason, count: gap.lostCount, first: gap.firstSequence,
            last: gap.lastSequence)
    }
}
