import BelfryCenter
import BelfryHistory
import BelfryJSON
import TestSupport

/// The prefixes, sets and conditions of one seed: few of each, so that they collide often.
///
/// Half of the seeds have none, and are what they were without this. It has dice of its own, so
/// that the other choices of a seed do not depend on it.
struct FilterProfile {
    let isUsed: Bool
    let names: [[UInt8]]
    let objects: [[UInt8]?]
    private let namePrefixes: [[UInt8]]
    private let objectPrefixes: [[UInt8]]
    private let conditions: [HistoryCondition]
    private let reportNames: [[UInt8]]
    /// One in so many observers, or filters, has this; 0 is never.
    private let rarity: [Part: Int]
    /// The last filters of observers.
    private var recent: [HistoryFilter] = []

    private enum Part: CaseIterable {
        case finer, names, namePrefix, objectPrefix, condition, grant
    }

    /// - Parameter hearsReports: whether observers may get what the broker posts itself.
    init(seed: UInt64, hearsReports: Bool = true) {
        var dice = Dice(seed: ~seed)
        reportNames = hearsReports ? Model.reportNames : []
        isUsed = dice.oneIn(2)
        func some<Element>(_ all: [Element], _ range: ClosedRange<Int>) -> [Element] {
            var rest = all
            var chosen: [Element] = []
            for _ in 0..<dice.number(in: range) where !rest.isEmpty {
                chosen.append(rest.remove(at: dice.below(rest.count)))
            }
            return chosen
        }
        // What begins with `belfry` alone is not reserved; the bytes of `a` begin those of `á`.
        let all = ["a", "a.", "a.b", "ab", "a\u{301}", "b", "belfry", "belfryx"]
        names = some(all.map { [UInt8]($0.utf8) }, 2...5)
        objects = some([nil, "o", "op", "o.", "q"].map { $0.map { [UInt8]($0) } }, 1...4)
        let prefixes = ["a", "a", "a.", "a.b", "ab", "b", "be", "belfry"]
        let reserved = [
            "belfry.client.", "belfry.client.r", "belfry.client.left", "belfry.o", "belfry.q",
        ]
        namePrefixes = some(
            (hearsReports ? prefixes + reserved : prefixes).map { [UInt8]($0) }, 1...5)
        objectPrefixes = some(["o", "o.", "op", "q", "c", "c1"].map { [UInt8]($0) }, 1...3)
        conditions = some(KnownCondition.all.map(\.seen), 1...3)
        var rarity: [Part: Int] = [:]
        for part in Part.allCases { rarity[part] = dice.oneIn(4) ? 0 : dice.number(in: 1...3) }
        rarity[.finer] = dice.number(in: 1...3)
        self.rarity = rarity
    }

    /// The filter that an observer of this name and object has in their place, and beside them.
    mutating func filter(
        _ name: inout [UInt8]?, _ object: inout [UInt8]?, _ dice: inout Dice
    ) -> HistoryFilter? {
        guard isUsed, has(.finer, &dice) else { return nil }
        let filter = someFilter(&name, &object, &dice)
        if filter.isEmpty { return nil }
        recent.append(filter)
        if recent.count > 8 { recent.removeFirst() }
        return filter
    }

    private func someFilter(
        _ name: inout [UInt8]?, _ object: inout [UInt8]?, _ dice: inout Dice
    ) -> HistoryFilter {
        var filter = HistoryFilter()
        if has(.names, &dice) {
            name = nil
            let all = names + (dice.oneIn(4) ? reportNames : [])
            for _ in 0..<dice.number(in: 1...4) {
                guard let one = dice.pick(all), !filter.names.contains(one) else { continue }
                filter.names.append(one)
            }
        } else if has(.namePrefix, &dice) {
            name = nil
            filter.namePrefix = dice.pick(namePrefixes)
        }
        if has(.objectPrefix, &dice) {
            object = nil
            filter.objectPrefix = dice.pick(objectPrefixes)
        }
        if has(.condition, &dice) { filter.condition = dice.pick(conditions) }
        if has(.grant, &dice) {
            for _ in 0..<dice.number(in: 1...2) {
                let covered = dice.oneIn(2) ? [] : filter.names.filter { _ in dice.oneIn(2) }
                let alternatives = (0..<dice.number(in: 1...2)).compactMap { _ in
                    dice.pick(conditions)
                }
                filter.grants.append(
                    HistoryFilter.Grant(names: covered, alternatives: alternatives))
            }
        }
        return filter
    }

    /// The filter of a removal: what an observer may have, less than that, or a part of another.
    ///
    /// - Parameter known: the filter of an observer, if one is to be removed.
    func removal(_ dice: inout Dice, like known: HistoryFilter? = nil) -> HistoryFilter? {
        guard isUsed, var filter = known ?? dice.pick(recent) else { return nil }
        filter.grants = []
        if dice.oneIn(3) { filter.objectPrefix = nil }
        if filter.condition != nil, dice.oneIn(2) {
            filter.condition = dice.oneIn(2) ? nil : dice.pick(conditions)
        }
        if filter.namePrefix != nil, dice.oneIn(3) {
            filter.namePrefix = dice.oneIn(2) ? nil : dice.pick(namePrefixes)
        }
        // A set has no order, and a part of it is another set.
        if dice.oneIn(2) { filter.names.reverse() }
        if !filter.names.isEmpty, dice.oneIn(4) { filter.names.removeLast() }
        return filter.isEmpty ? nil : filter
    }

    /// The userInfo of a post, with values that the conditions know.
    func userInfo(_ number: UInt64, padding: String, _ dice: inout Dice) -> [UInt8] {
        var members = ["\"k\":\(number)"]
        let numbers = ["0", "1", "2", "3", "1.0", "2e0", "-0", "\"1\"", "null", "true"]
        if !dice.oneIn(4) { members.append("\"n\":\(numbers[dice.below(numbers.count)])") }
        let texts = ["\"v\"", "\"eu-1\"", "\"eu\"", "\"\"", "null", "1"]
        if !dice.oneIn(4) { members.append("\"s\":\(texts[dice.below(texts.count)])") }
        if dice.oneIn(2) { members.append("\"d\":{\"n\":\(dice.below(3)),\"s\":\"v\"}") }
        if dice.oneIn(2) { members.append("\"b\":\(dice.oneIn(2))") }
        if dice.oneIn(8) { members.append("\"n\":\(dice.below(4))") }
        members.append("\"x\":\"\(padding)\"")
        return [UInt8]("{\(members.joined(separator: ","))}")
    }

    private func has(_ part: Part, _ dice: inout Dice) -> Bool {
        guard let rarity = rarity[part], rarity > 0 else { return false }
        return dice.oneIn(rarity)
    }
}

/// A condition in the words of the judges and in those of the broker.
struct KnownCondition: Sendable {
    let seen: HistoryCondition
    let own: JSONCondition

    private init(_ seen: HistoryCondition) {
        self.seen = seen
        let text = [UInt8](seen.text)
        guard let own = try? JSONCondition(text.span) else {
            preconditionFailure("a condition is refused: \(seen.text)")
        }
        self.own = own
    }

    /// All conditions that observers may have.
    static let all: [KnownCondition] = [
        HistoryCondition(anyOf: [.init("n", .atLeast(2))]),
        HistoryCondition(anyOf: [.init("n", .below(2))]),
        HistoryCondition(anyOf: [.init("n", .isOne(of: [.number(1)]))]),
        HistoryCondition(anyOf: [.init("n", .isOne(of: [.number(0), .text("1"), .null]))]),
        HistoryCondition(anyOf: [.init("n", .not(.isOne(of: [.number(1)])))]),
        HistoryCondition(anyOf: [.init("s", .isOne(of: [.text("v")]))]),
        HistoryCondition(anyOf: [.init("s", .exists(false))]),
        HistoryCondition(anyOf: [.init("s", .exists(true))]),
        HistoryCondition(anyOf: [.init("s", .begins("eu"))]),
        HistoryCondition(anyOf: [.init("s", .not(.begins("eu")))]),
        HistoryCondition(
            anyOf: [.init("n", .atLeast(1), .below(3)), .init("s", .isOne(of: [.text("v")]))]),
        HistoryCondition(
            anyOf: [.init("n", .above(2))], [.init("s", .isOne(of: [.null]))]),
        HistoryCondition(
            anyOf: [.init("b", .isOne(of: [.flag(true)])), .init("s", .ends("1"))],
            [.init("d.n", .atMost(0))]),
        HistoryCondition(anyOf: [.init("d.n", .isOne(of: [.number(2)]))]),
        HistoryCondition(anyOf: [.init("client", .begins("c1"))]),
    ].map(KnownCondition.init)
}

extension HistoryFilter {
    /// The terms of an observer, in the words of the judges.
    init?(_ terms: FilterTerms?) {
        guard let terms else { return nil }
        self.init()
        names = terms.names
        namePrefix = terms.namePrefix
        objectPrefix = terms.objectPrefix
        condition = terms.condition.map(Self.seen)
        grants = terms.grants.map { grant in
            Grant(names: grant.names, alternatives: grant.alternatives.map(Self.seen))
        }
    }

    private static func seen(_ condition: JSONCondition) -> HistoryCondition {
        guard let known = KnownCondition.all.first(where: { $0.own == condition }) else {
            preconditionFailure("an unknown condition: \(condition)")
        }
        return known.seen
    }
}

extension FilterTerms {
    /// The terms that an observer is registered with.
    init(_ filter: HistoryFilter) {
        self.init()
        names = filter.names
        namePrefix = filter.namePrefix
        objectPrefix = filter.objectPrefix
        condition = filter.condition.map(Self.own)
        grants = filter.grants.map { grant in
            GrantCondition(names: grant.names, alternatives: grant.alternatives.map(Self.own))
        }
    }

    private static func own(_ condition: HistoryCondition) -> JSONCondition {
        guard let known = KnownCondition.all.first(where: { $0.seen == condition }) else {
            preconditionFailure("an unknown condition: \(condition.text)")
        }
        return known.own
    }
}
