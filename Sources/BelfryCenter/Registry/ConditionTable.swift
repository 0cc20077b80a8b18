import BelfryJSON

/// The distinct conditions of a center: observers that have the same one share it (rule W13).
struct ConditionTable: Footprinted, Sendable {
    /// The number of a condition while an observer has it; a number is used again.
    typealias Index = UInt32

    private struct Row: Sendable {
        var own: JSONCondition?
        var alternatives: [JSONCondition] = []
        /// Whether there are alternatives: to look at them costs a false condition more.
        var hasGrants = false
        var useCount = 0
    }

    private var rows: [Row] = []
    private var freeRows: [Index] = []
    private var indexes: [[UInt8]: Index] = [:]
    private var blockByteCount = 0

    /// How many distinct conditions there are.
    var count: Int { indexes.count }

    /// The bytes that the table costs.
    var footprint: Int {
        Footprint.grown(count: rows.count, stride: MemoryLayout<Row>.stride) + blockByteCount
            + freeRows.footprint
            + Footprint.dictionary(
                capacity: indexes.capacity,
                stride: MemoryLayout<[UInt8]>.stride + MemoryLayout<Index>.stride)
    }

    /// Whether a userInfo fulfils the condition of the registration.
    @inline(__always)
    func isTrue(
        _ index: Index, for members: borrowing JSONMembers, in userInfo: Span<UInt8>,
        work: inout Int
    ) -> Bool {
        rows[Int(index)].own?.isTrue(for: members, in: userInfo, work: &work) ?? true
    }

    /// Whether the registration was made under grants with conditions.
    @inline(__always)
    func hasGrants(_ index: Index) -> Bool { rows[Int(index)].hasGrants }

    /// Whether those grants let a userInfo pass.
    func isGranted(
        _ index: Index, for members: borrowing JSONMembers, in userInfo: Span<UInt8>,
        work: inout Int
    ) -> Bool {
        rows[Int(index)].alternatives.oneIsTrue(for: members, in: userInfo, work: &work)
    }

    /// Whether an observer has a condition.
    func contains(_ condition: FilterCondition) -> Bool { indexes[condition.key] != nil }

    /// Counts one more use of a condition, and returns its number.
    mutating func insert(_ condition: FilterCondition) -> Index {
        let key = condition.key
        if let index = indexes[key] {
            rows[Int(index)].useCount += 1
            return index
        }
        let row = Row(
            own: condition.own, alternatives: condition.alternatives,
            hasGrants: !condition.alternatives.isEmpty, useCount: 1)
        let index = freeRows.popLast() ?? Index(rows.count)
        if Int(index) == rows.count { rows.append(row) } else { rows[Int(index)] = row }
        indexes[key] = index
        blockByteCount += condition.footprint + key.footprint
        return index
    }

    /// Counts one use of a condition less, and returns its number.
    mutating func remove(_ condition: FilterCondition) -> Index {
        let key = condition.key
        guard let index = indexes[key] else {
            preconditionFailure("a condition that is removed must be there")
        }
        rows[Int(index)].useCount -= 1
        guard rows[Int(index)].useCount == 0 else { return index }
        blockByteCount -= condition.footprint + key.footprint
        rows[Int(index)] = Row()
        freeRows.append(index)
        indexes[key] = nil
        // A table that was large once gives its storage back.
        if indexes.isEmpty { self = ConditionTable() }
        return index
    }
}
