import BelfryJSON

/// The answers of conditions for one notification: each is evaluated once (rule W13).
struct ConditionTruth: Footprinted, Sendable {
    private var members = JSONMembers()
    private var isRead = false
    private var isLarge = false
    /// The number of the notification among those that conditions were asked about.
    private var number: UInt64 = 0
    /// The answer of each condition in the lowest bit, behind the number that it is for.
    private var answers: [UInt64] = []
    /// How many conditions were evaluated for the notification.
    private(set) var evaluationCount: UInt64 = 0
    /// The bytes of values that conditions have looked through for the notification.
    private(set) var work = 0
    /// The same for the conditions of grants.
    private var grantWork = 0

    /// The most bytes that the conditions of one notification look through, some 4 ms of work.
    ///
    /// A value that is searched counts nine times. Past the limit observers get a gap. The
    /// conditions of grants have as much for themselves, so that no condition of a registration
    /// decides whether somebody may learn of the notification (rule W11).
    static let workLimit = 8 << 20

    /// The most bytes of a notification whose members leave their storage to the next one.
    private static let keptByteCount = 4_096

    /// The bytes that are kept between two notifications.
    var footprint: Int { answers.footprint + members.footprint }

    /// Begins with another notification.
    mutating func begin() {
        isRead = false
        (evaluationCount, work, grantWork) = (0, 0, 0)
        number += 1
    }

    /// Ends with the notification: a large one leaves no storage.
    mutating func end() {
        if isRead, isLarge { members = JSONMembers() }
    }

    /// Whether a notification fulfils a condition; nil past the limit of work.
    ///
    /// - Parameters:
    ///   - userInfo: that of the notification; nothing where it has none.
    ///   - isShared: whether the condition may be asked for again.
    @inline(__always)
    mutating func isTrue(
        _ index: ConditionTable.Index, of conditions: ConditionTable, in userInfo: Span<UInt8>,
        isShared: Bool = true
    ) -> Bool? {
        if isShared, let answer = answer(of: index) { return answer }
        if !isRead { read(userInfo) }
        let isGranted =
            !conditions.hasGrants(index) || grantWork > Self.workLimit
            || conditions.isGranted(index, for: members, in: userInfo, work: &grantWork)
        if isGranted, work > Self.workLimit || grantWork > Self.workLimit { return nil }
        evaluationCount += 1
        let isTrue =
            isGranted && conditions.isTrue(index, for: members, in: userInfo, work: &work)
        if isShared { answers[Int(index)] = number << 1 | (isTrue ? 1 : 0) }
        return isTrue
    }

    /// The answer that a condition has for the notification already.
    private mutating func answer(of index: ConditionTable.Index) -> Bool? {
        while answers.count <= Int(index) { answers.append(0) }  // Bound: growth
        return answers[Int(index)] >> 1 == number ? answers[Int(index)] & 1 == 1 : nil
    }

    /// Finds the members of the userInfo, for the first condition.
    private mutating func read(_ userInfo: Span<UInt8>) {
        members.read(userInfo)
        (isRead, isLarge) = (true, userInfo.count > Self.keptByteCount)
    }

    /// Whether a userInfo fulfils a condition that no table has; nil past the limit of work.
    mutating func ask(_ condition: FilterCondition, in userInfo: Span<UInt8>) -> Bool? {
        if work > Self.workLimit { return nil }
        if !isRead { read(userInfo) }
        return condition.isTrue(for: members, in: userInfo, work: &work)
    }

    /// Whether the grants of a condition that no table has let a userInfo pass.
    mutating func askGrants(_ condition: FilterCondition, in userInfo: Span<UInt8>) -> Bool {
        if condition.alternatives.isEmpty { return true }
        if !isRead { read(userInfo) }
        return condition.alternatives.oneIsTrue(for: members, in: userInfo, work: &work)
    }
}

extension Notification.Content {
    /// The userInfo as conditions read it: nothing where there is none (rule W6).
    var userInfoOrNothing: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            if let userInfo { return userInfo }
            return name.extracting(0..<0)
        }
    }
}
