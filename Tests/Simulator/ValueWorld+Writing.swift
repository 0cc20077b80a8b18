import BelfryCenter
import BelfryHistory
import BelfryJSON

// Writes with conditions, and what ends by itself: what they must do is known before they are done.
extension ValueWorld {
    var someObject: [UInt8] { [UInt8](["x", "y"][dice.below(2)].utf8) }

    func somePath() -> DocumentPath {
        var path = DocumentPath.whole
        for _ in 0..<dice.below(4) { path = path.appending(["abc".utf8[at: dice.below(3)]]) }
        return path
    }

    private func someDocument(depth: Int) -> String {
        if depth == 0 || dice.oneIn(3) { return ["1", "2", "\"t\"", "[1,null]"][dice.below(4)] }
        let members = (0..<dice.below(3)).map { place in
            "\"\(["a", "b", "c"][place])\":\(someDocument(depth: depth - 1))"
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    func set() throws(Violation) {
        let path = somePath()
        let object = someObject
        let text =
            path.keys.isEmpty
            ? "{\"a\":\(someDocument(depth: 2))}" : someDocument(depth: 2)
        let value = try document(text)
        let client = someClient
        var lifetime = ValueLifetime()
        if hasEnds, dice.oneIn(3) {
            lifetime.timeToLive = Int64(dice.number(in: 1...5_000)) * 1_000_000
        } else if hasEnds, dice.oneIn(3), client != nil {
            lifetime.lease = Int64(dice.below(5_000)) * 1_000_000
        }
        try write(object, path) { _ in
            PlainValue(value)
        } as: {
            .setValue($0, value, lifetime)
        } from: {
            lifetime.lease == nil ? nil : client
        } noting: {
            self.endEntries(at: path, of: object)
            guard lifetime.isLimited else { return }
            self.ends.append(
                Entry(
                    object: object, path: path,
                    end: lifetime.timeToLive.map { self.now + $0 },
                    client: lifetime.lease == nil ? nil : client, lease: lifetime.lease))
        }
    }

    func merge() throws(Violation) {
        let patch = try document(
            "{\"a\":\(someDocument(depth: 1)),\"b\":\(dice.oneIn(2) ? "null" : "3")}",
            isPatch: true)
        try write(someObject, somePath()) {
            PlainValue.merged($0, with: PlainValue(patch))
        } as: {
            .mergeValue($0, patch: patch)
        } from: {
            nil
        } noting: {
        }
    }

    func remove() throws(Violation) {
        let (object, path) = (someObject, somePath())
        guard dice.oneIn(2) || !path.keys.isEmpty else { return }
        try write(object, path) { _ in
            nil
        } as: {
            .removeValue($0)
        } from: {
            nil
        } noting: {
            self.endEntries(at: path, of: object)
        }
    }

    /// Writes, with a condition at times, and judges what that does.
    private func write(
        _ object: [UInt8], _ path: DocumentPath, _ change: (PlainValue?) -> PlainValue?,
        as action: (ValueWrite) -> Command.Action, from client: () -> UInt64?,
        noting: () -> Void
    ) throws(Violation) {
        lastNumber += 1
        var write = ValueWrite(
            id: NotificationID(high: seed, low: lastNumber), object: object, path: path)
        write.client = client()
        let keys = path.keys[...]
        let before = values[object]?.value(at: keys)
        if addCondition(to: &write) {
            guard case .refused = try submit(action(write)), effects.deliveries.isEmpty else {
                throw Violation("rule V14: a write was done whose condition is not met")
            }
            return try judge()
        }
        let after = change(before)
        let tree = PlainValue.put(after, at: keys, in: values[object])
        let isChanged = tree != values[object]
        values[object] = tree
        noting()
        let outcome = try submit(action(write))
        if case .refused = outcome, before == nil, after == nil { return try judge() }
        guard case .written(let written) = outcome else {
            throw Violation("a write was not done: \(outcome)")
        }
        guard written.isChanged == isChanged else {
            throw Violation("rule V2: a write is told as \(isChanged ? "no " : "a ")change")
        }
        try judge()
    }

    /// At times a write has a condition; tells whether that is not met.
    private func addCondition(to write: inout ValueWrite) -> Bool {
        let tag = center.value(of: write.object, at: write.path)?.tag
        switch dice.below(12) {
        case 0, 1:
            guard let found = dice.pick(tags.values.sorted { $0.high < $1.high }) else {
                return false
            }
            write.condition.matches = .some([found])
            return found != tag
        case 2:
            write.condition.noneMatches = .any
            return tag != nil
        default: return false
        }
    }

    func document(_ text: String, isPatch: Bool = false) throws(Violation) -> Document {
        let bytes = [UInt8](text.utf8)
        do throws(DocumentError) {
            return isPatch
                ? try Document.parsePatch(bytes.span) : try Document.parse(bytes.span)
        } catch {
            throw Violation("\(text) is no document: \(error)")
        }
    }

    // MARK: Entries that end

    /// A write at a path takes away what ends there and below.
    private func endEntries(at path: DocumentPath, of object: [UInt8]) {
        ends.removeAll { $0.object == object && path.leads(to: $0.path) }
    }

    /// The connection of a client has ended: its leases run, or are over.
    ///
    /// A broker that leaves is a restart for its clients.
    func endEntries(of client: UInt64, _ end: ConnectionEnd) {
        for place in ends.indices where ends[place].client == client {
            var left = end == .closed ? 0 : ends[place].lease ?? 0
            if end == .brokerLeft { left = max(left, 30_000_000_000) }
            ends[place].end = now + left
        }
        if hasEnds { expire(leasesAlone: true) }
    }

    private func expire(leasesAlone: Bool = false) {
        let due = ends.filter { ($0.end ?? .max) <= now && (!leasesAlone || $0.client != nil) }
            .sorted { ($0.end ?? 0) < ($1.end ?? 0) }
        for entry in due {
            ends.removeAll { $0.object == entry.object && entry.path.leads(to: $0.path) }
            values[entry.object] = PlainValue.put(
                nil, at: entry.path.keys[...], in: values[entry.object])
        }
    }

    func passTime() throws(Violation) {
        now += Int64(dice.below(4_000)) * 1_000_000
        wall += 1
        expire()
        try submit(.passTime(workLimit: .max))
        try judge(after: .time)
    }
}

extension String.UTF8View {
    fileprivate subscript(at place: Int) -> UInt8 { self[index(startIndex, offsetBy: place)] }
}
