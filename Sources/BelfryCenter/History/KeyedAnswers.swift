/// The answers to requests with an idempotency key (decision 26).
///
/// A repeated request gets the answer of the first one, and has no effect of its own.
///
/// A key belongs to its principal and is compared byte by byte. The oldest keys are forgotten when
/// there are too many, when their answers take too much memory, and when their time is over.
struct KeyedAnswers: Footprinted, Sendable {
    /// The result of a search for a key.
    enum Found: Sendable, Equatable {
        /// The key is unknown: the request is the first.
        case none
        /// The key was used for another request.
        case mismatch
        /// The request was answered.
        case answered(KeyRecord)
        /// The first request still waits for the observers of this notification.
        case pending(NotificationID)
    }

    /// The record of a key without its text, which only the table of keys has.
    struct Known: Sendable {
        let requestHash: SecretHash
        let form: UInt8
        /// How many bytes of the text in the table are the principal.
        let principalByteCount: Int
        var answer: Answer
        var waitingFor: NotificationID?
        /// On the monotonic clock in nanoseconds; `Int64.max` is never.
        let expiresAt: Int64
        /// Its position in the order.
        var position: UInt64
        /// The owner that it counts for.
        var owner: Owner
    }

    /// The answer of a key; nearly all are one receipt, which needs no memory elsewhere.
    enum Answer: Sendable {
        case one(Receipt)
        indirect case many([Receipt], [[ReportRow]])
        /// The answer of an ask.
        indirect case ask(AskOutcome)

        init(_ receipts: [Receipt], _ reports: [[ReportRow]]) {
            if receipts.count == 1, reports.isEmpty {
                self = .one(receipts[0])
            } else {
                self = .many(receipts, reports)
            }
        }
    }

    var keys: KeyTable
    /// By the number of the key.
    var known: [Known?] = []
    /// The numbers of the keys, the oldest first; a key that was begun again is in it twice.
    var order = Ring<UInt32>()
    var byteCount = 0
    /// The bytes outside the table for answers with several receipts.
    var furtherByteCount = 0
    /// The memory of the keys, by owner.
    var owned = OwnedMemory()

    init(seed: HashSeed) {
        keys = KeyTable(seed: seed)
    }

    /// How many keys are remembered.
    var count: Int { keys.count }

    /// The time when the oldest key is forgotten, on the monotonic clock in nanoseconds.
    @inline(__always)
    var nextDeadline: Int64? {
        if order.isEmpty { return nil }
        guard let first = order.first, let time = known[Int(first)]?.expiresAt, time != Int64.max
        else { return nil }
        return time
    }

    /// Finds the key of a request.
    func find(_ key: IdempotencyKey, at now: Int64) -> Found {
        guard let number = keys.index(of: Self.joined(key).span), let known = known[Int(number)],
            known.expiresAt > now
        else { return .none }
        guard known.requestHash.matches(key.requestHash) else { return .mismatch }
        if let waitingFor = known.waitingFor { return .pending(waitingFor) }
        return .answered(record(number, known))
    }

    /// Whether a key is remembered, even if its time is over.
    func remembers(_ key: IdempotencyKey) -> Bool { keys.index(of: Self.joined(key).span) != nil }

    /// Remembers a request that had its effect just now.
    ///
    /// - Parameter waitingFor: The notification whose observers are waited for; nil when the
    ///   receipts are the answer.
    /// - Returns: The keys that are forgotten for it, oldest first.
    mutating func begin(
        _ key: IdempotencyKey, waitingFor: NotificationID?, receipts: [Receipt],
        reports: [[ReportRow]], at now: Int64, limits: CenterLimits
    ) -> [IdempotencyKey] {
        append(
            key, Answer(receipts, reports), waitingFor: waitingFor, for: key.owner, at: now,
            limits: limits)
        return trim(limits: limits)
    }

    /// Notes the answer of a request that is pending.
    ///
    /// - Parameter id: The notification that it waited for: a forgotten key may be another
    ///   request's now.
    /// - Returns: The record to store, and the keys that are forgotten for it; nil when it is not
    ///   pending any more.
    mutating func finish(
        _ key: IdempotencyKey, waitedFor id: NotificationID, receipts: [Receipt],
        reports: [[ReportRow]], limits: CenterLimits
    ) -> (record: KeyRecord, forgotten: [IdempotencyKey])? {
        finish(key, waitedFor: id, Answer(receipts, reports), limits: limits)
    }

    private mutating func finish(
        _ key: IdempotencyKey, waitedFor id: NotificationID, _ final: Answer, limits: CenterLimits
    ) -> (record: KeyRecord, forgotten: [IdempotencyKey])? {
        guard let number = keys.index(of: Self.joined(key).span),
            var answer = known[Int(number)], answer.waitingFor == id
        else { return nil }
        count(answer.answer, -1)
        owned.add(-cost(number), of: .keys, for: answer.owner)
        answer.answer = final
        answer.waitingFor = nil
        count(answer.answer, 1)
        known[Int(number)] = answer
        owned.add(cost(number), of: .keys, for: answer.owner)
        let record = record(number, answer)
        return (record, trim(limits: limits))
    }

    /// Notes the state of an ask that is pending.
    mutating func finish(
        _ key: IdempotencyKey, waitedFor id: NotificationID, ask: AskOutcome, limits: CenterLimits
    ) -> (record: KeyRecord, forgotten: [IdempotencyKey])? {
        finish(key, waitedFor: id, .ask(ask), limits: limits)
    }

    /// Forgets the key of a request that is pending; returns whether it was.
    mutating func forget(_ key: IdempotencyKey, waitedFor id: NotificationID) -> Bool {
        guard let number = keys.index(of: Self.joined(key).span), let answer = known[Int(number)],
            answer.waitingFor == id
        else { return false }
        forget(number, answer)
        return true
    }

    /// Restores a stored key; its time starts again.
    mutating func restore(_ record: KeyRecord, at now: Int64, limits: CenterLimits) {
        append(
            record.key, record.ask.map { .ask($0) } ?? Answer(record.receipts, record.reports),
            waitingFor: nil, for: .none,
            at: now, limits: limits)
    }

    /// Forgets the keys past the limits, and returns them, oldest first.
    mutating func trim(limits: CenterLimits) -> [IdempotencyKey] {
        forget { answers, _ in
            answers.count > limits.keyLimit
                || (answers.count > 1 && answers.byteCount > limits.keyByteLimit)
        }
    }

    /// Forgets the oldest keys until no more than so many are left, and returns them.
    mutating func trim(toCount limit: Int, limits: CenterLimits) -> [IdempotencyKey] {
        var limits = limits
        limits.keyLimit = min(limits.keyLimit, limit)
        return trim(limits: limits)
    }

    /// Forgets the keys that are too old, at most so many, and returns them, oldest first.
    mutating func passTime(_ now: Int64, limit: Int) -> [IdempotencyKey] {
        var room = limit
        return forget { _, oldest in
            room -= 1
            return room >= 0 && oldest.expiresAt <= now
        }
    }

    private mutating func forget(
        while isOver: (borrowing KeyedAnswers, Known) -> Bool
    ) -> [IdempotencyKey] {
        var forgotten: [IdempotencyKey] = []
        // Bound: forgotten
        while let number = order.first, let oldest = known[Int(number)], isOver(self, oldest) {
            forgotten.append(key(number, oldest))
            forget(number, oldest)
        }
        return forgotten
    }

    /// Forgets the oldest eighth of the keys of an owner, and returns them.
    mutating func trim(of owner: Owner) -> [IdempotencyKey] {
        var numbers: [UInt32] = []
        for position in order.startPosition..<order.endPosition {  // Bound: shares
            let number = order[position]
            if let known = known[Int(number)], known.position == position, known.owner == owner {
                numbers.append(number)
            }
        }
        var forgotten: [IdempotencyKey] = []
        for number in numbers.prefix((numbers.count + 7) / 8) {  // Bound: shares
            guard let known = known[Int(number)] else { continue }
            forgotten.append(key(number, known))
            forget(number, known)
        }
        closeGaps()
        return forgotten
    }

    /// Removes skipped places from the order, once they are the majority.
    private mutating func closeGaps() {
        guard order.count > 2 * keys.count + 64 else { return }
        let end = order.endPosition
        for position in order.startPosition..<end {  // Bound: growth
            let number = order[position]
            guard known[Int(number)]?.position == position else { continue }
            known[Int(number)]?.position = order.append(number)
        }
        while order.startPosition < end { order.removeFirst() }  // Bound: growth
    }

    /// Assigns the owners of stored keys.
    mutating func assignOwners(_ ownerOf: (_ principal: [UInt8]) -> Owner) {
        for position in order.startPosition..<order.endPosition {  // Bound: start
            let number = order[position]
            guard let known = known[Int(number)], known.position == position else { continue }
            let owner = ownerOf(key(number, known).principal)
            self.known[Int(number)]?.owner = owner
            owned.add(cost(number), of: .keys, for: owner)
        }
    }

    /// The bytes that a key costs, about.
    private func cost(_ number: UInt32) -> Int {
        guard let known = known[Int(number)] else { return 0 }
        return keys.key(at: number).count + Self.byteCount(of: known.answer)
    }

    /// The bytes of the table; nearly all answers are one receipt, which is stored in it.
    var footprint: Int {
        keys.footprint + order.footprint + keys.count * MemoryLayout<Known?>.stride
            + furtherByteCount
    }

    /// Calls the visitor with the answers, the oldest first, their waiting and their end.
    func forEach(_ visit: (KeyRecord, _ waitingFor: NotificationID?, _ expiresAt: Int64) -> Void) {
        for position in order.startPosition..<order.endPosition {  // Bound: snapshot
            if let answer = known[Int(order[position])], answer.position == position {
                visit(record(order[position], answer), answer.waitingFor, answer.expiresAt)
            }
        }
    }

    private mutating func append(
        _ key: IdempotencyKey, _ answer: Answer, waitingFor: NotificationID?, for owner: Owner,
        at now: Int64, limits: CenterLimits
    ) {
        let text = Self.joined(key)
        let number = keys.insert(text.span).index
        if Int(number) == known.count { known.append(nil) }
        if let old = known[Int(number)] { discount(number, old) }
        byteCount += text.count
        count(answer, 1)
        let position = order.append(number)
        known[Int(number)] = Known(
            requestHash: key.requestHash, form: key.form,
            principalByteCount: key.principal.count, answer: answer, waitingFor: waitingFor,
            expiresAt: now.adding(limits.keyLifetime.wholeNanoseconds), position: position,
            owner: owner)
        owned.add(cost(number), of: .keys, for: owner)
        skipReplaced()
    }

    /// Forgets a key; its place in the order is skipped later, unless it is the first.
    private mutating func forget(_ number: UInt32, _ answer: Known) {
        discount(number, answer)
        known[Int(number)] = nil
        keys.remove(at: number)
        skipReplaced()
    }

    private mutating func discount(_ number: UInt32, _ answer: Known) {
        owned.add(-cost(number), of: .keys, for: answer.owner)
        byteCount -= keys.key(at: number).count
        count(answer.answer, -1)
    }

    /// Counts an added answer, or a removed one with -1.
    private mutating func count(_ answer: Answer, _ sign: Int) {
        let byteCount = Self.byteCount(of: answer)
        self.byteCount += sign * byteCount
        furtherByteCount += sign * (byteCount - Self.recordByteCount)
    }

    /// The key of a number, made of its parts.
    private func key(_ number: UInt32, _ known: Known) -> IdempotencyKey {
        let text = keys.key(at: number).dropFirst(Self.lengthByteCount)
        return IdempotencyKey(
            principal: Array(text.prefix(known.principalByteCount)),
            text: Array(text.dropFirst(known.principalByteCount)),
            requestHash: known.requestHash, form: known.form, owner: known.owner)
    }

    private func record(_ number: UInt32, _ known: Known) -> KeyRecord {
        let key = key(number, known)
        switch known.answer {
        case .one(let receipt): return KeyRecord(key: key, receipts: [receipt], reports: [])
        case .many(let receipts, let reports):
            return KeyRecord(key: key, receipts: receipts, reports: reports)
        case .ask(let ask): return KeyRecord(key: key, receipts: [], reports: [], ask: ask)
        }
    }

    /// Skips keys that were begun again, so that the first of the order is alive.
    private mutating func skipReplaced() {
        while let first = order.first,  // Bound: stale
            known[Int(first)]?.position != order.startPosition
        {
            order.removeFirst()
        }
    }

    /// The bytes before the principal in a joined text.
    private static let lengthByteCount = 8

    /// Principal and key as one text: the length of the first keeps them apart.
    private static func joined(_ key: IdempotencyKey) -> [UInt8] {
        var joined: [UInt8] = []
        joined.reserveCapacity(lengthByteCount + key.principal.count + key.text.count)
        for shift in stride(from: 0, to: 64, by: 8) {  // Bound: levels
            joined.append(UInt8(truncatingIfNeeded: key.principal.count >> shift))
        }
        joined += key.principal
        joined += key.text
        return joined
    }

    /// The bytes that a key costs besides its text.
    ///
    /// They are the head of an array, its places in the tables and in the order, and the room to
    /// which those grow ahead.
    private static let recordByteCount = 384

    /// The bytes of a record without the text of its key, about.
    private static func byteCount(of answer: Answer) -> Int {
        var count = recordByteCount
        if case .ask(let ask) = answer { return count + ask.byteCount }
        guard case .many(let receipts, let reports) = answer else { return count }
        count += receipts.count * MemoryLayout<Receipt>.stride
        for rows in reports {  // Bound: batch
            count += rows.count * MemoryLayout<ReportRow>.stride
            // Bound: observers
            for case let text? in rows.map(\.outcome.answerText) { count += text.count + 32 }
        }
        return count
    }
}
