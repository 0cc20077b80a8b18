import BelfryCenter

/// The knowledge of what archives must keep, in arrays: rules A1 to A6 and A9, and the replay ring.
struct ArchiveTruth {
    /// A notification that was dispatched.
    struct Post {
        let sequence: UInt64
        let id: NotificationID
        let name: [UInt8]
        let object: [UInt8]?
        /// The value of `n` in its userInfo.
        let number: Int
        let byteCount: Int
        let postedAt: Int64
        /// The end of its `ttl`, on the clock of this life, and on that of the wall.
        var ends: Int64
        let endsAt: Int64
        /// Whether an archive kept it.
        var isKept = false
        /// Whether it is of an earlier life, where the end of the `ttl` of a held copy is unknown.
        var isVague = false

        /// Whether its `ttl` is over, or may be.
        func mayBeOver(at now: Int64) -> Bool { isVague || ends <= now }
    }

    /// A row of an archive.
    struct Row {
        var post: Post
        let archive: Int
        var isStored: Bool
    }

    /// An archive, by a number of its own.
    struct Archive {
        let number: Int
        let name: ArchiveName
        /// The last number before it was made.
        let since: UInt64
        var terms: ArchiveTerms
        /// The last number of the life before, where memory alone had it then.
        var anewAbove: UInt64?
        /// Whether its terms were changed: then kinds of before are there, too.
        var wasChanged = false
        /// The channels of which the store knows what was lost.
        var known: Set<[UInt8]> = []

        /// Whether its name is a channel's, or begins it.
        func covers(_ channel: [UInt8]) -> Bool {
            name.isPrefix ? channel.starts(with: name.text) : channel == name.text
        }
    }

    /// A notification that an archive does not have, and not because of its own `ttl`.
    struct Loss {
        enum Reason { case passed, ended, removed, notKept }

        var post: Post
        let reason: Reason
        /// Whether it concerns the object alone.
        let isOfObject: Bool
    }

    private(set) var archives: [Archive] = []
    private(set) var rows: [Row] = []
    /// All that was dispatched, and is known to be.
    private(set) var posts: [Post] = []
    private(set) var losses: [UInt64: Loss] = [:]
    /// Notifications that were forgotten on request, and those that went with their archive.
    private(set) var forgotten: Set<UInt64> = []
    private(set) var gone: Set<UInt64> = []
    /// Notifications that were removed where no other archive had the channel.
    private(set) var orphans: Set<UInt64> = []
    /// The ring: the numbers in it, and the last one that it has forgotten.
    private(set) var ring: [UInt64] = []
    private(set) var ringForgot: UInt64 = 0
    private let ringLimit: Int
    /// The last numbers of all lives before, and of those in which losses of a channel were not
    /// stored.
    private(set) var lifeEnds: [UInt64] = []
    private(set) var unknownThrough: [[UInt8]: UInt64] = [:]
    private var lastArchive = 0

    init(ringLimit: Int) { self.ringLimit = ringLimit }

    /// The last number of the life before.
    var lifeEnd: UInt64 { lifeEnds.last ?? 0 }

    // MARK: Archives

    /// The archive of a channel: that of its name, else of the longest prefix (rule A1).
    func archive(of name: [UInt8]) -> Archive? {
        archives.first { !$0.name.isPrefix && $0.name.text == name }
            ?? archives.filter { $0.name.isPrefix && name.starts(with: $0.name.text) }
            .max { $0.name.text.count < $1.name.text.count }
    }

    private func archive(numbered number: Int) -> Archive? {
        archives.first { $0.number == number }
    }

    mutating func put(_ name: ArchiveName, _ terms: ArchiveTerms) {
        guard let place = archives.firstIndex(where: { $0.name == name }) else {
            lastArchive += 1
            let since = posts.last?.sequence ?? lifeEnd
            archives.append(
                Archive(number: lastArchive, name: name, since: since, terms: terms))
            return
        }
        archives[place].terms = terms
        archives[place].wasChanged = true
        if !terms.isStored { archives[place].known = [] }
        let number = archives[place].number
        for row in rows.indices where rows[row].archive == number {
            rows[row].isStored = terms.isStored
            if terms.isStored { archives[place].known.insert(rows[row].post.name) }
        }
    }

    mutating func remove(_ name: ArchiveName) {
        guard let place = archives.firstIndex(where: { $0.name == name }) else { return }
        let number = archives[place].number
        for row in rows where row.archive == number {
            lose(row.post, .removed, isOfObject: false)
            gone.insert(row.post.sequence)
        }
        let removed = rows.filter { $0.archive == number }
        rows.removeAll { $0.archive == number }
        archives.remove(at: place)
        // With the archive goes what it knew of earlier losses, too.
        for post in removed.map(\.post) + losses.values.map(\.post).filter(\.isKept)
        where archive(of: post.name) == nil { orphans.insert(post.sequence) }
        // Its heir has what it had forgotten whole.
        if let heir = archive(of: name.text),
            let place = archives.firstIndex(where: { $0.number == heir.number })
        {
            archives[place].wasChanged = true
        }
    }

    // MARK: Posts

    /// A notification is dispatched; tells whether it must be kept.
    mutating func dispatch(_ post: Post, at now: Int64, wall: Int64) -> Bool {
        var post = post
        let archive = archive(of: post.name)
        let byteCount = post.byteCount + ArchiveTerms.overheadByteCount
        if let archive, byteCount <= archive.terms.byteLimit {
            post.isKept = true
            rows.append(
                Row(post: post, archive: archive.number, isStored: archive.terms.isStored))
            note(post.name, in: archive)
        } else {
            let isOfObject = archive?.terms.each == .object
            losses[post.sequence] = Loss(post: post, reason: .notKept, isOfObject: isOfObject)
            if let archive { note(post.name, in: archive) }
        }
        posts.append(post)
        ring.append(post.sequence)
        while ring.count > ringLimit { ringForgot = ring.removeFirst() }
        if let archive, post.isKept { bound(archive, at: wall) }
        return post.isKept
    }

    private mutating func note(_ name: [UInt8], in archive: Archive) {
        guard archive.terms.isStored,
            let place = archives.firstIndex(where: { $0.number == archive.number })
        else { return }
        archives[place].known.insert(name)
    }

    /// Lets go what is past the bounds: the oldest of its kind, the oldest of the archive.
    private mutating func bound(_ archive: Archive, at wall: Int64) {
        let terms = archive.terms
        if let limit = terms.count {
            for row in own(archive) where newer(than: row, in: archive) >= limit {
                letGo(row.post.sequence, .passed)
            }
        }
        while own(archive).reduce(0, { $0 + Self.byteCount($1) }) > terms.byteLimit {
            guard let oldest = own(archive).first else { return }
            letGo(oldest.post.sequence, .passed)
        }
        age(archive, at: wall)
    }

    private mutating func age(_ archive: Archive, at wall: Int64) {
        for row in own(archive) where isOver(row, in: archive, at: wall) {
            letGo(row.post.sequence, .ended)
        }
    }

    private func own(_ archive: Archive) -> [Row] { rows.filter { $0.archive == archive.number } }

    static func byteCount(_ row: Row) -> Int {
        row.post.byteCount + ArchiveTerms.overheadByteCount
    }

    /// How many rows of the kind of a row are newer.
    private func newer(than row: Row, in archive: Archive) -> Int {
        rows.count {
            $0.archive == archive.number && $0.post.sequence > row.post.sequence
                && $0.post.name == row.post.name
                && (archive.terms.each == .name || $0.post.object == row.post.object)
        }
    }

    private func isOver(_ row: Row, in archive: Archive, at wall: Int64) -> Bool {
        guard let age = archive.terms.age, row.post.postedAt + age <= wall else { return false }
        return newer(than: row, in: archive) >= archive.terms.keepLast
    }

    /// Removes a row; unless its own `ttl` is over it is lost.
    private mutating func letGo(_ sequence: UInt64, _ reason: Loss.Reason?) {
        guard let place = rows.firstIndex(where: { $0.post.sequence == sequence }) else { return }
        let row = rows.remove(at: place)
        guard let reason, let archive = archive(numbered: row.archive) else { return }
        lose(
            row.post, reason, isOfObject: archive.terms.each == .object && !archive.wasChanged)
    }

    private mutating func lose(_ post: Post, _ reason: Loss.Reason, isOfObject: Bool) {
        losses[post.sequence] = Loss(post: post, reason: reason, isOfObject: isOfObject)
    }

    /// The rows that a change of terms has left: bounds alone may have removed the rest.
    ///
    /// - Returns: The fault, if there is one.
    mutating func adopt(
        _ shown: [UInt64], after name: ArchiveName, at now: Int64, wall: Int64
    ) -> String? {
        guard let archive = archives.first(where: { $0.name == name }) else { return nil }
        passTime(to: now, wall: wall)
        let before = own(archive)
        let left = before.filter { shown.contains($0.post.sequence) }
        for (place, row) in before.enumerated()
        where !shown.contains(row.post.sequence) {
            let isPastCount =
                archive.terms.count.map { newer(than: row, in: archive) >= $0 } ?? false
            let newerBytes = before[place...].reduce(0) { $0 + Self.byteCount($1) }
            guard isPastCount || newerBytes > archive.terms.byteLimit else {
                return "#\(row.post.sequence) fits the new terms, and went"
            }
        }
        for row in before where !shown.contains(row.post.sequence) {
            letGo(row.post.sequence, .passed)
        }
        let isTooMuch = left.contains { row in
            archive.terms.count.map { newer(than: row, in: archive) >= $0 } ?? false
        }
        let bytes = left.reduce(0) { $0 + Self.byteCount($1) }
        guard !isTooMuch, bytes <= archive.terms.byteLimit else {
            return "new terms do not hold: \(left.map(\.post.sequence)) with \(bytes) bytes"
        }
        return nil
    }

    // MARK: Time and removal

    /// Lets go what its `ttl` or its age has ended.
    mutating func passTime(to now: Int64, wall: Int64) {
        for row in rows where row.post.ends <= now { letGo(row.post.sequence, nil) }
        for archive in archives { age(archive, at: wall) }
    }

    /// Forgets notifications; tells how many an archive or the ring had, at least and at most.
    mutating func forget(_ isMeant: (Post) -> Bool) -> ClosedRange<Int> {
        let meant = posts.filter { isMeant($0) && !forgotten.contains($0.sequence) }
        let there = meant.map(\.sequence).filter { has($0) }.count
        // What is over may still be in the ring.
        let most = meant.count { has($0.sequence) || ring.contains($0.sequence) }
        for post in meant {
            // The archive that has it remembers it, although another one may have the channel now.
            let row = rows.first { $0.post.sequence == post.sequence }
            let archive =
                row.flatMap { self.archive(numbered: $0.archive) } ?? self.archive(of: post.name)
            rows.removeAll { $0.post.sequence == post.sequence }
            lose(post, .removed, isOfObject: archive?.terms.each == .object)
        }
        forgotten.formUnion(meant.map(\.sequence))
        for post in meant where archive(of: post.name) == nil { orphans.insert(post.sequence) }
        return there...most
    }

    private func has(_ sequence: UInt64) -> Bool {
        rows.contains { $0.post.sequence == sequence }
            || ring.contains(sequence) && !gone.contains(sequence) && !isEnded(sequence)
    }

    /// Whether its age has ended it.
    private func isEnded(_ sequence: UInt64) -> Bool {
        if case .ended = losses[sequence]?.reason { return true }
        return false
    }

    /// The ring forgets the oldest until no more than so many are left.
    mutating func trimRing(to count: Int) {
        while ring.count > count { ringForgot = ring.removeFirst() }
    }

    /// The next life begins: what memory alone had is lost, and the ring is empty.
    mutating func beginLife(at now: Int64, wall: Int64, sequence: UInt64, _ names: [[UInt8]]) {
        lifeEnds.append(sequence)
        for name in names {
            unknownThrough[name] = isCertain(name) ? lostBefore(name) : sequence
        }
        (ring, ringForgot) = ([], sequence)
        for place in posts.indices where posts[place].endsAt != .max {
            posts[place].isVague = true
        }
        for sequence in losses.keys where losses[sequence]?.post.endsAt != .max {
            losses[sequence]?.post.isVague = true
        }
        for row in rows where !row.isStored {
            letGo(row.post.sequence, .ended)
        }
        for place in rows.indices where rows[place].post.endsAt != .max {
            rows[place].post.ends = now + max(0, rows[place].post.endsAt - wall) * 1_000_000
        }
        for place in archives.indices where !archives[place].terms.isStored {
            archives[place].known = []
            archives[place].anewAbove = sequence
        }
        passTime(to: now, wall: wall)
    }

    // MARK: What is there

    /// The rows of archives that may be shown.
    func shown(at now: Int64, wall: Int64) -> [Post] {
        rows.filter { row in
            row.post.ends > now
                && archive(numbered: row.archive).map { !isOver(row, in: $0, at: wall) } ?? false
        }.map(\.post)
    }

    /// The past for whoever was promised nothing: archives, and the ring of other channels.
    func past(at now: Int64, wall: Int64) -> [Post] {
        let kept = shown(at: now, wall: wall)
        let others = ringPosts(at: now).filter { post in
            !post.isKept && archive(of: post.name) == nil
        }
        return (kept + others).sorted { $0.sequence < $1.sequence }
    }

    /// The past for whoever was promised all: what the ring still has counts as kept.
    func promised(at now: Int64, wall: Int64) -> [Post] {
        let kept = shown(at: now, wall: wall)
        let numbers = Set(kept.map(\.sequence))
        let others = ringPosts(at: now).filter { post in
            !numbers.contains(post.sequence) && isShownByRing(post, at: wall)
        }
        return (kept + others).sorted { $0.sequence < $1.sequence }
    }

    private func ringPosts(at now: Int64) -> [Post] {
        posts.suffix(ringLimit).filter {
            ring.contains($0.sequence) && $0.ends > now && !forgotten.contains($0.sequence)
        }
    }

    /// Past a count or the bytes the ring has it; past its age, or removed, it has not.
    private func isShownByRing(_ post: Post, at wall: Int64) -> Bool {
        guard post.isKept else { return true }
        if gone.contains(post.sequence) { return false }
        if case .ended = losses[post.sequence]?.reason { return false }
        guard let age = archive(of: post.name)?.terms.age else { return true }
        return post.postedAt + age > wall
    }

    /// The newest of the ring past each age of the archives that may have one of some channels.
    func agedInRing(of names: [[UInt8]], at wall: Int64) -> [UInt64] {
        let ages = archives.filter { names.contains(where: $0.covers) }.compactMap(\.terms.age)
        return ages.compactMap { age in
            posts.last { ring.contains($0.sequence) && $0.postedAt + age <= wall }?.sequence
        }
    }

    /// The number up to which memory alone may have known the losses of a channel.
    ///
    /// An archive may have had it there, until the present one was made.
    private func lostBefore(_ name: [UInt8]) -> UInt64? {
        guard let since = archive(of: name)?.since else { return unknownThrough[name] }
        let hasEarlier = archives.contains {
            !$0.terms.isStored && $0.since < since && $0.name.isPrefix
                && name.starts(with: $0.name.text)
        }
        return hasEarlier ? max(since, unknownThrough[name] ?? 0) : unknownThrough[name]
    }

    /// Whether the store knows all that was ever lost of a channel.
    private func isCertain(_ name: [UInt8]) -> Bool {
        archive(of: name)?.known.contains(name) == true
    }
}
