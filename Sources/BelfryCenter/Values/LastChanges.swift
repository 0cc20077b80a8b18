import BelfryJSON

/// Where a value was changed last: the places that were changed, each with the number of its last
/// change.
///
/// It answers for places that nobody observes, as those of a stream that comes back (rule V10). Of
/// more places than it has room for it knows one number that none of them is above.
struct LastChanges: Footprinted, Sendable {
    fileprivate struct Change: Sendable {
        let path: DocumentPath
        /// Whether all that lies below may have changed with it.
        let isWhole: Bool
        var sequence: UInt64

        /// Whether a place may have changed with it: one that lies above it has.
        func mayReach(_ place: DocumentPath) -> Bool {
            place.leads(to: path) || isWhole && path.leads(to: place)
        }

        /// Whether an earlier change says nothing besides.
        func covers(_ earlier: Change) -> Bool {
            isWhole ? path.leads(to: earlier.path) : path == earlier.path && !earlier.isWhole
        }
    }

    /// How many places are known.
    static let limit = 16
    /// The most places that one change names; a larger change counts for all that lies below it.
    static let editLimit = 4

    /// The oldest first; no place lies below a later one that is whole.
    private var changes: [Change] = []
    /// The bytes of the paths of these.
    private var pathByteCount = 0
    /// No other place was changed above this number.
    private var floor: UInt64

    /// Begins where no place was changed above a number.
    init(through floor: UInt64) { self.floor = floor }

    /// The bytes that they cost.
    var footprint: Int {
        pathByteCount
            + Footprint.array(of: changes.count, stride: MemoryLayout<Change>.stride)
    }

    /// Takes a change and its number, which is the highest.
    mutating func note(_ edit: DocumentEdit, at sequence: UInt64) {
        // A leaf that is written again and again.
        if let last = changes.last, !last.isWhole, edit.isOfLeaf(at: last.path) {
            changes[changes.count - 1].sequence = sequence
            return
        }
        for place in edit.places(limit: Self.editLimit) {  // Bound: few
            let change = Change(path: place.path, isWhole: place.isWhole, sequence: sequence)
            changes.removeAll { earlier in
                guard change.covers(earlier) else { return false }
                pathByteCount -= earlier.path.cost
                return true
            }
            if changes.count == Self.limit {
                let oldest = changes.removeFirst()
                floor = oldest.sequence
                pathByteCount -= oldest.path.cost
            }
            changes.append(change)
            pathByteCount += change.path.cost
        }
    }

    /// The number of the last change that a place may have had: at it, above it or below it.
    func last(at path: DocumentPath) -> UInt64 {
        changes.last { $0.mayReach(path) }?.sequence ?? floor
    }

    /// Adds all of it to a digest.
    func addDigest(to digest: inout StateDigest) {
        digest.add(floor)
        digest.add(changes.count)
        for change in changes {  // Bound: snapshot
            digest.add(change.path.text)
            digest.add(change.isWhole)
            digest.add(change.sequence)
        }
    }
}

extension DocumentPath {
    /// The bytes of the list of its keys and of each of these, as they were in a request.
    fileprivate var cost: Int {
        keys.reduce(footprint) { $0 + Footprint.array(of: $1.count) }
    }
}

extension DocumentEdit {
    /// A place that is different now, alone or with what lies below it.
    fileprivate typealias Place = (path: DocumentPath, isWhole: Bool)

    /// The places that are different now, or that of the edit if there are more than so many.
    fileprivate func places(limit: Int) -> [Place] {
        var places: [Place] = []
        return Self.add(path, old, new, limit, to: &places) ? places : [(path, isWhole: true)]
    }

    /// Adds the places of a difference; tells whether there was room for all of them.
    private static func add(
        _ path: DocumentPath, _ old: Document?, _ new: Document?, _ limit: Int,
        to places: inout [Place]
    ) -> Bool {
        let countBefore = places.count
        // A key without an address, and one that is too deep, is told as the place above it.
        var hasAddresses = path.keys.count < DocumentPath.keyLimit
        var hasRoom = true
        let room = DocumentPath.byteLimit - path.text.count
        func add(_ key: [UInt8], _ old: Document?, _ new: Document?) {
            guard hasRoom, hasAddresses, old != new else { return }
            hasAddresses = !key.isEmpty && key.count < room && !key.contains(UInt8(ascii: "."))
            guard hasAddresses else { return }
            hasRoom = Self.add(path.appending(key), old, new, limit, to: &places)
        }
        old?.forEachMember { add($0, $1, new?.member($0)) }
        new?.forEachMember { if old?.member($0) == nil { add($0, nil, $1) } }
        // What has no members, or comes and goes with none, is a place itself: what lies below it
        // was not there, and is not.
        if places.count == countBefore || !hasAddresses {
            places.append((path, isWhole: !hasAddresses))
        }
        return hasRoom && places.count <= limit
    }
}

extension LastChanges.Change: Coded {
    init(_ known: LastChanges.Change?, by coder: inout some Coder) throws(CodeError) {
        path = try coder(known?.path)
        isWhole = try coder(known?.isWhole)
        sequence = try coder(known?.sequence)
    }
}

extension LastChanges: Coded {
    init(_ known: LastChanges?, by coder: inout some Coder) throws(CodeError) {
        changes = try coder(known?.changes)
        pathByteCount = changes.reduce(0) { $0 + $1.path.cost }
        floor = try coder(known?.floor)
    }
}
