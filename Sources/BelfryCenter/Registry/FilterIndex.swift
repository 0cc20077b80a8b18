/// Files the observers whose filters are finer than a name and an object (rules P1 to P9, W1).
///
/// Those with one filter and one condition are a group. A notification has several names here: its
/// channel, each prefix of its name that an observer has, and any; and so its object has. It
/// matches the groups of each pair.
struct FilterIndex: Footprinted, Sendable {
    /// A name or an object in a filter: the number of a text, or of a prefix, or any.
    typealias Key = UInt32

    /// The observers of one pair with one condition.
    struct Group: Sendable {
        let condition: ConditionTable.Index?
        var list = PostingList()
    }

    /// The groups of one name.
    private struct Row: Sendable {
        /// Those of any object.
        var ofAny: [Group] = []
        /// Those of an object, or of a prefix of objects.
        var ofObjects: [Key: [Group]] = [:]

        var isEmpty: Bool { ofAny.isEmpty && ofObjects.isEmpty }

        subscript(object: Key) -> [Group] {
            get { object == any ? ofAny : ofObjects[object] ?? [] }
            _modify {
                if object == any {
                    yield &ofAny
                } else {
                    yield &ofObjects[object, default: []]
                    if ofObjects[object]?.isEmpty == true { ofObjects[object] = nil }
                }
            }
        }
    }

    private struct Place: Hashable, Sendable {
        let name: Key
        let object: Key
        let condition: ConditionTable.Index?
    }

    /// The value of what a filter does not name.
    static let any = Key.max
    private static let prefixBit: Key = 1 << 31
    private(set) var names = PrefixTable()
    private(set) var objects = PrefixTable()
    private(set) var conditions = ConditionTable()
    /// The groups of each channel, and of each prefix of names.
    private var rows: [Key: Row] = [:]
    /// The groups without a name.
    private var anyRow = Row()
    /// How many of the rows are of channels: a post looks there only if there are some.
    private var channelRowCount = 0
    /// The places of the groups in their lists.
    private var places: [Place: Int] = [:]
    private var listByteCount = 0
    /// The answers of conditions for the notification that was matched last.
    private(set) var truth = ConditionTruth()

    /// An index without observers.
    static let nothing = FilterIndex()

    /// Whether nothing is filed, and no prefix is used.
    var isUnused: Bool { places.isEmpty && names.count == 0 && objects.count == 0 }

    /// The bytes that the index costs.
    ///
    /// Each group is counted as the only one of its pair.
    var footprint: Int {
        names.footprint + objects.footprint + conditions.footprint + truth.footprint + listByteCount
            + places.count
            * (MemoryLayout<Group>.stride
                + Footprint.array(of: 1, stride: MemoryLayout<PostingList.Entry>.stride)
                + Footprint.array(of: 1, stride: MemoryLayout<Group>.stride))
            + Footprint.dictionary(
                capacity: places.capacity,
                stride: MemoryLayout<Place>.stride + MemoryLayout<Int>.stride)
            + Footprint.dictionary(
                capacity: rows.capacity,
                stride: MemoryLayout<Key>.stride + MemoryLayout<Row>.stride)
    }

    // MARK: Filing

    /// Files an observer at a pair.
    mutating func add(
        name: Key, object: Key, _ condition: FilterCondition?, serial: UInt64, slot: UInt32
    ) {
        let condition = condition.map { conditions.insert($0) }
        let place = Place(name: name, object: object, condition: condition)
        changeGroups(of: place) { groups, position in
            if position == nil {
                position = groups.count
                groups.append(Group(condition: condition))
            }
            groups[position ?? 0].list.append(serial: serial, slot: slot)
        }
        listByteCount += MemoryLayout<PostingList.Entry>.stride
    }

    /// Removes an observer from a pair; the last group moves to the place of one that is empty.
    mutating func remove(name: Key, object: Key, _ condition: FilterCondition?, serial: UInt64) {
        let condition = condition.map { conditions.remove($0) }
        let place = Place(name: name, object: object, condition: condition)
        var moved: (group: ConditionTable.Index?, position: Int)?
        changeGroups(of: place) { groups, position in
            guard let found = position else {
                preconditionFailure("an observer that is removed must be there")
            }
            groups[found].list.remove(serial: serial)
            guard groups[found].list.isEmpty else { return }
            position = nil
            let last = groups.removeLast()
            guard found < groups.count else { return }
            groups[found] = last
            moved = (last.condition, found)
        }
        if let moved {
            places[Place(name: name, object: object, condition: moved.group)] = moved.position
        }
        listByteCount -= MemoryLayout<PostingList.Entry>.stride
    }

    /// Changes the groups of a pair, and the place of one of them; nil is none.
    private mutating func changeGroups(
        of place: Place, _ change: (inout [Group], inout Int?) -> Void
    ) {
        var position = places[place]
        if place.name == Self.any {
            change(&anyRow[place.object], &position)
        } else {
            let isChannel = place.name & Self.prefixBit == 0
            if isChannel, rows[place.name] == nil { channelRowCount += 1 }
            change(&rows[place.name, default: Row()][place.object], &position)
            if rows[place.name]?.isEmpty == true {
                rows[place.name] = nil
                if isChannel { channelRowCount -= 1 }
            }
        }
        places[place] = position
    }

    /// Counts one more use of a prefix of names, and returns its key.
    mutating func retain(namePrefix: Span<UInt8>) -> Key {
        names.insert(namePrefix) | Self.prefixBit
    }

    /// Counts one more use of a prefix of objects, and returns its key.
    mutating func retain(objectPrefix: Span<UInt8>) -> Key {
        objects.insert(objectPrefix) | Self.prefixBit
    }

    /// Counts one use of a prefix of names less.
    mutating func release(name key: Key) {
        if key & Self.prefixBit != 0, key != Self.any { names.remove(key & ~Self.prefixBit) }
    }

    /// Counts one use of a prefix of objects less.
    mutating func release(object key: Key) {
        if key & Self.prefixBit != 0, key != Self.any { objects.remove(key & ~Self.prefixBit) }
    }

    /// The key of a prefix of names that an observer has.
    func key(namePrefix: Span<UInt8>) -> Key? {
        names.index(of: namePrefix).map { $0 | Self.prefixBit }
    }

    /// The key of a prefix of objects that an observer has.
    func key(objectPrefix: Span<UInt8>) -> Key? {
        objects.index(of: objectPrefix).map { $0 | Self.prefixBit }
    }

    // MARK: Finding

    /// Whether an observer has a prefix of a name.
    func hasPrefix(of name: Span<UInt8>, isReserved: Bool) -> Bool {
        var isFound = false
        forEachPrefix(of: name, isReserved: isReserved) { _ in isFound = true }
        return isFound
    }

    /// How many observers have a prefix of a name.
    func observerCount(withPrefixOf name: Span<UInt8>, isReserved: Bool) -> Int {
        names.useCount(
            of: name, leastByteCount: isReserved ? FilterTerms.reservedByteCount : 0)
    }

    /// Appends the entries of a notification whose conditions are true, or that have none.
    ///
    /// The index remembers the answers. It is searched in place: a copy would cost each post more
    /// than the search.
    ///
    /// - Returns: The observers whose conditions were past the limit of work.
    mutating func match(
        _ content: Notification.Content, channel: Key, object: Key,
        to found: inout [PostingList.Entry]
    ) -> [UInt32] {
        var unasked: [UInt32] = []
        truth.begin()
        let pairs = pairs(of: content, channel: channel, object: object).groups
        pairs.forEach { groups in
            let userInfo = content.userInfoOrNothing
            for index in groups.indices {  // Bound: observers
                let answer = groups[index].condition.map {
                    truth.isTrue($0, of: conditions, in: userInfo, isShared: pairs.count > 1)
                }
                switch answer ?? true {
                case true?: groups[index].list.appendLiving(to: &found)
                case false?: break
                case nil: unasked += groups[index].list.living.map(\.slot)
                }
            }
        }
        truth.end()
        return unasked
    }

    /// The groups of each pair that a notification has, and how many pairs were looked up.
    ///
    /// They match but for their conditions. The prefix of a reserved channel is reserved itself,
    /// and no other observer without a name gets what is posted there (rules P4 and C17).
    ///
    /// - Complexity: one step a byte, and one for each pair of a known name and a known object.
    @inline(__always)
    func pairs(
        of content: Notification.Content, channel: Key, object: Key
    ) -> (groups: FewList<[Group]>, lookCount: Int) {
        var objectKeys: [Key] = []
        if objects.count > 0, let text = content.object {
            objects.forEachPrefix(of: text) { objectKeys.append($0 | Self.prefixBit) }
        }
        var (pairs, rowCount) = (FewList<[Group]>(), 0)
        forEachRow(of: content, channel: channel) { row in
            rowCount += 1
            if !row.ofAny.isEmpty { pairs.append(row.ofAny) }
            if row.ofObjects.isEmpty { return }
            if let groups = row.ofObjects[object] { pairs.append(groups) }
            // Bound: objects
            for key in objectKeys { if let groups = row.ofObjects[key] { pairs.append(groups) } }
        }
        return (pairs, rowCount * (1 + objectKeys.count))
    }

    @inline(__always)
    private func forEachRow(
        of content: Notification.Content, channel: Key, _ visit: (Row) -> Void
    ) {
        let isReserved = content.isReserved
        if channelRowCount > 0, let row = rows[channel] { visit(row) }
        if !isReserved, !anyRow.isEmpty { visit(anyRow) }
        forEachPrefix(of: content.name, isReserved: isReserved) { prefix in
            if let row = rows[prefix | Self.prefixBit] { visit(row) }
        }
    }

    private func forEachPrefix(
        of name: Span<UInt8>, isReserved: Bool, _ visit: (PrefixTable.Index) -> Void
    ) {
        guard names.count > 0 else { return }
        names.forEachPrefix(
            of: name, leastByteCount: isReserved ? FilterTerms.reservedByteCount : 0, visit)
    }
}
