import BelfryJSON

/// The places of a value that changed last, with the numbers of their last changes.
///
/// It answers also for places without an observer, like that of a stream that reconnects (rule
/// V10). For places beyond its room it knows an upper bound of their numbers.
struct LastChanges: Footprinted, Sendable {
    fileprivate struct Change: Sendable {
        let path: DocumentPath
        /// Whether all places below may have changed with it.
        let isWhole: Bool
        var sequence: UInt64

        /// Whether another place may have changed with it: that place, or one above it, has.
        func mayReach(_ place: DocumentPath) -> Bool {
            place.leads(to: path) || isWhole && path.leads(to: place)
        }

        /// Whether it makes an earlier change redundant.
        func covers(_ earlier: Change) -> Bool {
            isWhole ? path.leads(to: earlier.path) : path == earlier.path && !earlier.isWhole
        }
    }

    /// The number of places that are remembered.
    static let limit = 16
    /// The most places of one change; a larger change counts for all below its place.
    static let editLimit = 4

    /// The changes, the oldest first; no place is below a later one that is whole.
    private var changes: [Change] = []
    /// The bytes of the paths of the changes.
    private var pathByteCount = 0
    /// No other place was changed above this number.
    private var floor: UInt64

    /// Makes a list without a change above a number.
    init(through floor: UInt64) { self.floor = floor }

    /// The bytes that the list costs.
    var footprint: Int {
        pathByteCount
            + Footprint.array(of: changes.count, stride: MemoryLayout<Change>.stride)
    }

    /// Notes a change and its number, which is the highest.
    mutating func note(_ edit: DocumentEdit, at sequence: UInt64) {
        // A leaf that is written repeatedly.
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

    /// The number of the last change that may concern a place: one at it, above it or below it.
    func last(at path: DocumentPath) -> UInt64 {
        changes.last { $0.mayReach(path) }?.sequence ?? floor
    }

    /// Adds the whole list to a digest.
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
    /// The bytes of the list of its keys and of each key, as they were in a request.
    fileprivate var cost: Int {
        keys.reduce(footprint) { $0 + Footprint.array(of: $1.count) }
    }
}

extension DocumentEdit {
    /// A changed place, alone or with all places below it.
    fileprivate typealias Place = (path: DocumentPath, isWhole: Bool)

    /// The changed places, or the place of the edit if there are more than the limit.
    fileprivate func places(limit: Int) -> [Place] {
        var places: [Place] = []
        return Self.add(path, old, new, limit, to: &places) ? places : [(path, isWhole: true)]
    }

    /// Adds the places of a difference; returns whether there was room for all of them.
    private static func add(
        _ path: DocumentPath, _ old: Document?, _ new: Document?, _ limit: Int,
        to places: inout [Place]
    ) -> Bool {
        let countBefore = places.count
        // A key without an address, or one that is too deep, is reported as the place above it.
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
        // A value without members, or one that appears or vanishes without any, is a place itself:
        // no value was or is below it.
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
