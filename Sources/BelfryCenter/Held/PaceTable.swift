/// The end of the running `minInterval` of each kind at each observer (rule D20).
///
/// An interval that is over holds nothing back: such intervals are forgotten, some with each one
/// that begins and with each command. In a full table, each new interval removes the one that ends
/// first: the next notification of that kind may be delivered too soon.
///
/// All brokers that apply the same commands have the same running intervals, which alone decide the
/// removals. Intervals that are over may differ: a stored state has none of them.
struct PaceTable: Footprinted, Sendable {
    /// The most intervals that run at a time in a center.
    static let limit = 100_000
    /// The number of ended intervals that are forgotten when one begins: more than begin.
    private static let shareOfOne = 2
    /// The number of ended intervals that are forgotten with a command.
    static let shareOfCommand = 32

    private var ends = CountedTable<ObservedKind, Int64>()
    /// The earliest possible end of each; an interval that began anew has a later one.
    private var order = DeadlineHeap<ObservedKind>()

    var count: Int { ends.count }
    var isEmpty: Bool { ends.isEmpty }

    /// The bytes that the table costs: both parts share their texts.
    var footprint: Int { ends.footprint + order.footprint }

    /// The end of the running interval of a kind; nil where none runs.
    func end(of kind: ObservedKind, at now: Int64) -> Int64? {
        guard let end = ends[kind], end > now else { return nil }
        return end
    }

    /// Begins an interval of a kind.
    mutating func begin(_ kind: ObservedKind, until end: Int64, at now: Int64) {
        forgetOver(at: now, limit: Self.shareOfOne)
        if ends.count >= Self.limit, ends[kind] == nil { forgetFirst() }
        let countBefore = ends.count
        ends[kind] = end
        if ends.count > countBefore { order.add(at: end, key: kind) }
    }

    /// Forgets the interval that ends first, or one near it where many have begun anew.
    private mutating func forgetFirst() {
        for left in (0..<Work.vainLookLimit).reversed() {  // Bound: intervals
            guard let next = order.next, let kind = order.popDue(at: next) else { return }
            guard let end = ends[kind] else { continue }
            if end <= next || left == 0 { return ends[kind] = nil }
            order.add(at: end, key: kind)
        }
    }

    /// Forgets some of the ended intervals.
    mutating func forgetOver(at now: Int64, limit: Int) {
        var left = limit
        while left > 0, let kind = order.popDue(at: now) {  // Bound: intervals
            left -= 1
            guard let end = ends[kind] else { continue }
            if end > now { order.add(at: end, key: kind) } else { ends[kind] = nil }
        }
    }

    /// Forgets the ended intervals, and those that end first until no more than so many are left.
    ///
    /// - Complexity: O(n log n).
    mutating func trim(to count: Int, at now: Int64) {
        guard ends.count > count else { return }
        var running = ends.values.filter { $0.value > now }
        if running.count > count {
            let last = running.values.sorted()[running.count - count - 1]
            running = running.filter { $0.value > last }
        }
        self = PaceTable(running)
    }

    /// The table without the ended intervals.
    func running(at now: Int64) -> PaceTable { PaceTable(ends.values.filter { $0.value > now }) }

    private init(_ running: [ObservedKind: Int64]) {
        ends = CountedTable(running)
        for (kind, end) in running { order.add(at: end, key: kind) }  // Bound: intervals
    }

    init() {}

    /// Adds the running intervals to a digest: they have no order, so it takes their sum.
    func addDigest(to digest: inout StateDigest, at now: Int64) {
        var sum: UInt64 = 0
        for (kind, end) in ends.values where end > now {  // Bound: snapshot
            var one = StateDigest()
            one.add(kind.observer)
            one.add(kind.name)
            one.add(kind.object)
            one.add(end)
            sum &+= one.finish()
        }
        digest.add(sum)
    }
}

extension PaceTable: Coded {
    init(_ known: PaceTable?, by coder: inout some Coder) throws(CodeError) {
        let ends = try coder.table(known?.ends)
        // A count that earlier versions stored when they swept the table.
        let _: Int = try coder(known?.count)
        self = known ?? PaceTable(ends.values)
    }
}
