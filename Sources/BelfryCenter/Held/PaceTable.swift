/// When the next of a kind may be written to an observer with a `minInterval` (rule D20).
///
/// An interval that is over holds nothing back: those are forgotten, some with each one that begins
/// and with each command. Where a table is full, the one that ends first is forgotten for each that
/// begins: the next of its kind may come sooner than it should.
///
/// The same intervals run for all who apply the same commands, and decide alone what is forgotten
/// of that. What is over is not: who reads a state has none of it.
struct PaceTable: Footprinted, Sendable {
    /// The most intervals that run at a time in a center.
    static let limit = 100_000
    /// How many of those that are over are forgotten when one begins: more than begin.
    private static let shareOfOne = 2
    /// How many of them are forgotten with a command.
    static let shareOfCommand = 32

    private var ends = CountedTable<ObservedKind, Int64>()
    /// The earliest end that each may have: one that began anew has a later one.
    private var order = DeadlineHeap<ObservedKind>()

    var count: Int { ends.count }
    var isEmpty: Bool { ends.isEmpty }

    /// The bytes that the table costs: both name the same texts.
    var footprint: Int { ends.footprint + order.footprint }

    /// When the interval of a kind is over, if it runs.
    func end(of kind: ObservedKind, at now: Int64) -> Int64? {
        guard let end = ends[kind], end > now else { return nil }
        return end
    }

    /// An interval of a kind begins.
    mutating func begin(_ kind: ObservedKind, until end: Int64, at now: Int64) {
        forgetOver(at: now, limit: Self.shareOfOne)
        if ends.count >= Self.limit, ends[kind] == nil { forgetFirst() }
        let countBefore = ends.count
        ends[kind] = end
        if ends.count > countBefore { order.add(at: end, key: kind) }
    }

    /// Forgets the one that ends first, or one near it where many have begun anew.
    private mutating func forgetFirst() {
        for left in (0..<Work.vainLookLimit).reversed() {  // Bound: intervals
            guard let next = order.next, let kind = order.popDue(at: next) else { return }
            guard let end = ends[kind] else { continue }
            if end <= next || left == 0 { return ends[kind] = nil }
            order.add(at: end, key: kind)
        }
    }

    /// Forgets some of those that are over.
    mutating func forgetOver(at now: Int64, limit: Int) {
        var left = limit
        while left > 0, let kind = order.popDue(at: now) {  // Bound: intervals
            left -= 1
            guard let end = ends[kind] else { continue }
            if end > now { order.add(at: end, key: kind) } else { ends[kind] = nil }
        }
    }

    /// Forgets all that are over, and those that end first until no more than so many are left.
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

    /// The same without those that are over.
    func running(at now: Int64) -> PaceTable { PaceTable(ends.values.filter { $0.value > now }) }

    private init(_ running: [ObservedKind: Int64]) {
        ends = CountedTable(running)
        for (kind, end) in running { order.add(at: end, key: kind) }  // Bound: intervals
    }

    init() {}

    /// Adds those that run to a digest: they have no order, so their sum is taken.
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
        // How many there were when they were swept, of earlier versions.
        let _: Int = try coder(known?.count)
        self = known ?? PaceTable(ends.values)
    }
}
