/// The targets of observers, and since when each address has had no holder (rule K11).
struct TargetTable: Footprinted, Sendable {
    fileprivate struct Target: Sendable {
        var observerCount = 0
        /// In monotonic nanoseconds; nil while the address has a holder.
        var unheldSince: Int64?
    }

    private var targets: [[UInt8]: Target] = [:]

    /// Whether no observer has a target.
    var isEmpty: Bool { targets.isEmpty }

    /// The bytes that the table costs.
    var footprint: Int {
        Footprint.dictionary(
            capacity: targets.capacity,
            stride: MemoryLayout<[UInt8]>.stride + MemoryLayout<Target>.stride)
    }

    /// Counts an observer with this target.
    mutating func add(_ target: [UInt8], isHeld: Bool, at time: Int64) {
        targets[target, default: Target(unheldSince: isHeld ? nil : time)].observerCount += 1
    }

    /// Counts one observer of this target less.
    mutating func remove(_ target: [UInt8]) {
        guard let count = targets[target]?.observerCount else { return }
        if count == 1 {
            targets[target] = nil
        } else {
            targets[target]?.observerCount = count - 1
        }
    }

    /// Notes that an address has a holder from now on, or has none any more.
    mutating func note(_ address: [UInt8], isHeld: Bool, at time: Int64) {
        guard !targets.isEmpty, var target = targets[address] else { return }
        target.unheldSince = isHeld ? nil : target.unheldSince ?? time
        targets[address] = target
    }

    /// The moment when a target lost its holder, in monotonic nanoseconds; nil while it has one.
    func unheldSince(_ target: [UInt8]) -> Int64? { targets[target]?.unheldSince }
}

extension TargetTable.Target: Coded {
    init(_ known: TargetTable.Target?, by coder: inout some Coder) throws(CodeError) {
        observerCount = try coder(known?.observerCount)
        unheldSince = try coder(known?.unheldSince)
    }
}

extension TargetTable: Coded {
    init(_ known: TargetTable?, by coder: inout some Coder) throws(CodeError) {
        targets = try coder.table(known?.targets)
    }
}
