import BelfryBytes

/// The observers of one client that read the past, up to the present (rules A7 and A8).
///
/// A reader has a position in the one order of notifications, and goes on as fast as its client
/// takes what it finds. What is posted meanwhile and kept is found in its turn.
struct PastReader: Sendable {
    /// One observer that reads.
    struct Member: Sendable {
        let slot: UInt32
        let serial: UInt64
        let filter: ObserverIndex.Filter
        /// It gets notifications above this number.
        var after: UInt64
        /// The number above which the next life begins: which frames came is unknown then.
        var begun: UInt64
        /// The time from which it gets notifications that were posted before it joined.
        var from = Int64.min
        /// The number of the last notification before it was registered or came back.
        let join: UInt64
        /// Whether it was promised all above a number: then losses are gaps.
        ///
        /// Else what the replay ring has of channels that are not kept is read, too.
        var isPromised = true
        /// The numbers that its client holds already.
        var held: Set<UInt64> = []
        /// The numbers that it gets up to `join`; nil for all that match.
        var chosen: Set<UInt64>?
        /// The search for the newest ones, before the reading begins.
        var search: PastSearch?
        /// The loss that it was told last.
        var toldLoss: UInt64 = 0
        /// Whether it gets all that the ring has, kept or not.
        var takesAll = false
        /// Whether it is of an earlier life, and how far it was is unknown.
        var isRestored = false
        /// Receipts of posts up to this number no longer count the observer as `held`.
        fileprivate(set) var settled: UInt64 = 0
    }

    /// In the order of registration.
    private(set) var members: [Member] = []
    /// All up to this number is done.
    private(set) var position: UInt64 = .max
    /// The losses of the archives that the members know of, and how far the ring had forgotten.
    private var knownLossCount: UInt64 = .max
    private var knownForgotten: UInt64 = 0
    /// When the members were told of their losses, in milliseconds since 1970.
    private var knownAt = Int64.min
    /// The members up to this one have the next notification behind the position, too.
    private var told: (sequence: UInt64, serial: UInt64) = (0, 0)

    /// Whether all that there is was found, up to a number.
    func isDone(through sequence: UInt64) -> Bool {
        position >= sequence && !members.contains { $0.search != nil }
    }

    /// Adds an observer; the others keep their places.
    mutating func add(_ member: Member) {
        remove(member.slot)
        if position != .max {
            // Bound: client
            for place in members.indices {
                members[place].after = max(members[place].after, position)
                if members[place].serial <= told.serial {
                    members[place].after = max(members[place].after, told.sequence)
                }
            }
        }
        told = (0, 0)
        let place = members.indices.firstPlace { members[$0].serial > member.serial }
        members.insert(member, at: place)
        position = min(position, member.after)
        knownLossCount = .max
    }

    mutating func remove(_ slot: UInt32) { members.removeAll { $0.slot == slot } }

    /// Notes a notification that is held for an observer, if it is one of these.
    mutating func noteHeld(_ sequence: UInt64, at slot: UInt32) {
        if let place = member(at: slot) { members[place].held.insert(sequence) }
    }

    /// The place of an observer.
    func member(at slot: UInt32) -> Int? { members.firstIndex { $0.slot == slot } }

    /// The first number, from another one on, that is held for an observer and not read.
    ///
    /// An observer without a promise also reads what is not kept, up to where it joined.
    func firstHeld(_ first: UInt64, at slot: UInt32) -> UInt64 {
        guard let place = member(at: slot), !members[place].isPromised else { return first }
        return max(first, members[place].join + 1)
    }

    /// The number above which an observer reads in the next life; nil for one that does not.
    func placeInNextLife(of slot: UInt32) -> UInt64? {
        guard let place = member(at: slot), let reached = self.place(of: slot) else { return nil }
        let member = members[place]
        // What was posted since it joined is promised to all.
        return member.isPromised ? member.begun : min(reached, max(member.begun, member.join))
    }

    /// The number above which an observer reads; nil for one that does not.
    func place(of slot: UInt32) -> UInt64? {
        guard let place = member(at: slot) else { return nil }
        let isFound = members[place].search == nil
        return isFound ? max(members[place].after, position) : members[place].join
    }

    /// The result of a look for the next notification.
    enum Step {
        /// An observer gets a notification.
        case found(Notification, member: Int)
        /// There is nothing before the limit.
        case end
        /// The work of this turn is done.
        case tired
    }

    /// Finds the next notification for one of the observers.
    ///
    /// - Parameters:
    ///   - limit: a number and the observer that it is for, before which this one must be.
    ///   - work: what may still be done in this turn.
    mutating func next(
        before limit: (sequence: UInt64, serial: UInt64)?, in archives: borrowing Archives,
        _ history: borrowing History, _ index: borrowing ObserverIndex, at time: CommandTime,
        _ pastWork: inout PastWork
    ) -> Step {
        while true {  // Share: past
            guard
                let candidate = archives.next(
                    above: position, history.replay, index, at: time, &pastWork)
            else {
                if pastWork.isDone { return .tired }
                position = max(position, history.sequence)
                return .end
            }
            let sequence = candidate.notification.sequence
            // What new terms of an archive show again must not come behind this one.
            position = max(position, min(sequence, limit?.sequence ?? .max) - 1)
            if let limit, sequence > limit.sequence { return .end }
            // Bound: client
            for place in members.indices {
                let serial = members[place].serial
                if told.sequence == sequence, serial <= told.serial { continue }
                if let limit, sequence == limit.sequence, serial >= limit.serial { return .end }
                guard let matches = archives.matches(candidate, members[place], &pastWork) else {
                    return .tired
                }
                told = (sequence, serial)
                if matches { return .found(candidate.notification, member: place) }
            }
            position = sequence
        }
    }

    /// The losses that the observers were not told yet (rule A9).
    mutating func takeLosses(
        _ archives: borrowing Archives, _ registry: borrowing ObserverRegistry,
        _ history: borrowing History, wall: Int64
    ) -> [(slot: UInt32, gap: GapRecord)] {
        // The ring loses what only the ring has when it forgets it, or when its age is over.
        let forgotten = history.replay.forgottenThrough
        guard
            archives.lossCount != knownLossCount || forgotten != knownForgotten
                || archives.hasAges && wall != knownAt
        else { return [] }
        (knownLossCount, knownForgotten, knownAt) = (archives.lossCount, forgotten, wall)
        var losses: [(slot: UInt32, gap: GapRecord)] = []
        for place in members.indices {  // Bound: client
            let member = members[place]
            let lost = PastLosses.lostThrough(
                at: member.slot, from: member.from, wall: wall, archives, registry, history)
            let start = max(member.after, member.toldLoss, min(position, lost))
            guard lost > start else { continue }
            members[place].toldLoss = lost
            losses.append(
                (
                    member.slot,
                    GapRecord(reason: .unknown, count: nil, first: start + 1, last: lost)
                ))
        }
        return losses
    }

    /// Notes that an observer got a notification; tells whether the receipt counted it as held.
    ///
    /// An observer that comes back may get the notification again.
    mutating func settle(_ sequence: UInt64, _ place: Int) -> Bool {
        guard sequence > max(members[place].join, members[place].settled) else { return false }
        members[place].settled = sequence
        return true
    }

    /// Goes back to before an observer got a notification, which could not be written.
    mutating func putBack(_ sequence: UInt64, _ place: Int) {
        told = (sequence, place == 0 ? 0 : members[place - 1].serial)
    }

    /// Does a part of the searches; tells whether all have ended.
    mutating func search(
        in archives: borrowing Archives, _ ring: borrowing ReplayRing,
        _ index: borrowing ObserverIndex, at time: CommandTime, _ pastWork: inout PastWork
    ) -> Bool {
        if !members.contains(where: { $0.search != nil }) { return true }
        for place in members.indices {  // Bound: client
            guard var search = members[place].search else { continue }
            let isDone = search.goOn(
                for: members[place], in: archives, ring, index, at: time, &pastWork)
            members[place].search = isDone ? nil : search
            guard isDone else { return false }
            members[place].chosen = search.chosen
            members[place].after = max(members[place].after, search.start - 1)
        }
        position = members.map(\.after).min() ?? .max
        told = (0, 0)
        return true
    }
}

extension PastReader: Footprinted {
    var footprint: Int {
        members.reduce(Footprint.array(of: members.count, stride: MemoryLayout<Member>.stride)) {
            $0 + 16 * ($1.held.count + ($1.chosen?.count ?? 0)) + ($1.search?.footprint ?? 0)
        }
    }
}

/// The work that readers may do in one turn, some 2 ms.
struct PastWork {
    /// Rows and observers that may still be looked at.
    private var looks: Int
    var conditions = FilterWork()

    init(looks: Int = PastWork.share) { self.looks = looks }

    /// The looks of a turn, and of a command that goes on in no other turn.
    static let share = 20_000
    static let ofCommand = 100_000

    var isDone: Bool { looks <= 0 }

    /// Takes one look; tells whether it was there.
    mutating func take() -> Bool {
        looks -= 1
        return looks >= 0
    }
}

/// The search for the newest notifications that match, from the present into the past.
struct PastSearch: Sendable {
    /// How many are wanted in all, or of each name and object.
    let count: Int
    let isEach: Bool
    /// How many there is room for, and how many bytes.
    var countRoom = Int.max
    var byteRoom = Int.max
    /// The number above the place of the search.
    private var place: UInt64
    /// The lowest number that was found.
    private(set) var start: UInt64
    private(set) var foundCount = 0
    private var counts: [[UInt8]: Int] = [:]
    /// The bytes of the keys of `counts`.
    private var keyByteCount = 0
    private var numbers: Set<UInt64> = []
    /// The first that had no room, where that ended the search.
    private(set) var lost: UInt64?

    /// The most notifications that a search for some of each remembers.
    static let chosenLimit = 100_000

    init(count: Int, isEach: Bool, join: UInt64) {
        self.count = count
        self.isEach = isEach
        place = join + 1
        start = join + 1
    }

    /// The numbers that were chosen; nil for all from the start on.
    var chosen: Set<UInt64>? { isEach ? numbers : nil }

    var footprint: Int {
        16 * numbers.count + 24 * counts.count
            + Footprint.texts(count: counts.count, byteCount: keyByteCount)
    }

    /// Goes on for an observer; tells whether the search has ended.
    mutating func goOn(
        for member: PastReader.Member, in archives: borrowing Archives,
        _ ring: borrowing ReplayRing, _ index: borrowing ObserverIndex, at time: CommandTime,
        _ pastWork: inout PastWork
    ) -> Bool {
        while foundCount < (isEach ? Self.chosenLimit : count) {  // Share: past
            guard
                let candidate = archives.next(
                    below: place, ring, index, at: time, &pastWork)
            else {
                return !pastWork.isDone
            }
            let sequence = candidate.notification.sequence
            if sequence <= member.after { return true }
            guard let matches = archives.matches(candidate, member, &pastWork) else { return false }
            place = sequence
            if matches, !add(candidate.notification) { return true }
        }
        return true
    }

    /// Adds a notification that matches; tells whether there is room for more.
    private mutating func add(_ notification: Notification) -> Bool {
        let content = notification.content
        let kind = isEach ? ArchivedKindKey(content, in: 0, isOfObject: true).bytes : []
        if isEach, counts[kind, default: 0] >= count { return true }
        guard foundCount < countRoom, content.byteCount <= byteRoom else {
            lost = notification.sequence
            return false
        }
        if isEach {
            if counts.updateValue((counts[kind] ?? 0) + 1, forKey: kind) == nil {
                keyByteCount += kind.count
            }
            numbers.insert(notification.sequence)
        }
        byteRoom -= content.byteCount
        foundCount += 1
        start = notification.sequence
        return true
    }
}
