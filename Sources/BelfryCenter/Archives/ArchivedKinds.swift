import BelfryBytes

/// The kinds of all archives: channels, or channels and objects, with what was let go of each.
struct ArchivedKinds: Footprinted, Sendable {
    /// One kind.
    struct Kind: Sendable {
        let key: ArchivedKindKey
        var rows = KeptRows.List()
        var marks = LossMarks()
        /// The last notification of the channel before the archive began.
        var began = LossMark()
        /// Whether the store has it.
        var isStored = false
        /// Its neighbours in the order of use.
        fileprivate var previous = KeptRows.none
        fileprivate var next = KeptRows.none
    }

    private var keys: KeyTable
    private var kinds: [Kind] = []
    /// The kind that was used longest ago, and the one that was used last.
    private(set) var oldest = KeptRows.none
    private var newest = KeptRows.none

    /// The key of a number that is free.
    private static let none = ArchivedKindKey(channel: [], in: 0)

    init(seed: HashSeed) { keys = KeyTable(seed: seed) }

    var count: Int { keys.count }

    var footprint: Int {
        keys.footprint + kinds.count * MemoryLayout<Kind>.stride
            + Footprint.texts(count: 2 * count, byteCount: keys.byteCount)
    }

    subscript(kind: UInt32) -> Kind {
        _read { yield kinds[Int(kind)] }
        _modify { yield &kinds[Int(kind)] }
    }

    /// All kinds.
    func forEach(_ visit: (UInt32, Kind) -> Void) {
        for number in kinds.indices  // Bound: kinds
        where !keys.key(at: UInt32(number)).isEmpty {
            visit(UInt32(number), kinds[number])
        }
    }

    /// The number of a kind, if the archive has it.
    func number(_ key: ArchivedKindKey) -> UInt32? { keys.index(of: key.bytes.span) }

    /// Whether one of some archives has a channel.
    func know(_ name: [UInt8], in archives: [UInt32]) -> Bool {
        archives.contains {
            number(ArchivedKindKey(channel: name, in: $0)) != nil
        }
    }

    /// The number of a kind, which is made if it is new, and has been used last from now on.
    mutating func use(_ key: ArchivedKindKey) -> (number: UInt32, isNew: Bool) {
        let (number, isNew) = keys.insert(key.bytes.span)
        if isNew {
            let kind = Kind(key: key)
            while kinds.count <= Int(number) {  // Bound: growth
                kinds.append(Kind(key: Self.none))
            }
            kinds[Int(number)] = kind
        } else {
            if newest == number { return (number, false) }
            unlink(number)
        }
        link(number)
        return (number, isNew)
    }

    /// Forgets a kind without rows.
    mutating func remove(_ number: UInt32) {
        unlink(number)
        keys.remove(at: number)
        kinds[Int(number)] = Kind(key: Self.none)
        if count == 0 { kinds = [] }
    }

    private mutating func link(_ number: UInt32) {
        kinds[Int(number)].previous = newest
        kinds[Int(number)].next = KeptRows.none
        if newest == KeptRows.none {
            oldest = number
        } else {
            kinds[Int(newest)].next = number
        }
        newest = number
    }

    private mutating func unlink(_ number: UInt32) {
        let (previous, next) = (self[number].previous, self[number].next)
        if previous == KeptRows.none { oldest = next } else { kinds[Int(previous)].next = next }
        if next == KeptRows.none { newest = previous } else { kinds[Int(next)].previous = previous }
    }
}

extension ArchivedKindKey {
    /// The kind of a notification in an archive.
    init(_ content: Notification.Content, in archive: UInt32, isOfObject: Bool) {
        self.init(
            archive: archive, name: [UInt8](copying: content.name),
            object: isOfObject ? content.objectText : nil, isOfObject: isOfObject)
    }

    /// The kind of a channel as a whole in an archive.
    init(channel name: [UInt8], in archive: UInt32) {
        self.init(archive: archive, name: name, object: nil, isOfObject: false)
    }

    /// The kind of the channel as a whole.
    var ofName: ArchivedKindKey { ArchivedKindKey(channel: name, in: archive) }

    /// Bytes that no other kind has: the length of the name divides it from the object.
    public var bytes: [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(10 + name.count + (object?.count ?? 0))
        for word in [archive, UInt32(name.count)] {  // Bound: few
            for shift in stride(from: 0, to: 32, by: 8) {  // Bound: few
                key.append(UInt8(truncatingIfNeeded: word >> UInt32(shift)))
            }
        }
        key.append(isOfObject ? 1 : 0)
        key.append(object == nil ? 0 : 1)
        return key + name + (object ?? [])
    }
}
