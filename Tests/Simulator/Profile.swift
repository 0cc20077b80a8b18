import BelfryCenter
import TestSupport

/// The profile of one seed: its own limits, its few names, and the frequency of each step.
///
/// Each seed leaves out some kinds of steps and prefers others (swarm testing: Groce and others,
/// 2012), so that limits are met which an even mixture would never meet.
struct Profile {
    var limits = CenterLimits().ofLog
    var names: [[UInt8]]
    var objects: [[UInt8]?]
    var selectors: [[UInt8]]
    var modes: [[UInt8]]
    var clientLimit: Int
    var observerLimit: Int
    /// The count of unread frames at which a client becomes slow, and the one at which it recovers.
    var highWater: Int
    var lowWater: Int
    /// How many frames a client reads at a time, at most.
    var readLimit: Int
    var weights: [Int]
    var weightSum: Int
    /// One in so many posts has such an option; 0 is never.
    var rarity: [Option: Int] = [:]
    var behaviors: [SuspensionBehavior]
    /// The longest times, in nanoseconds.
    var longest: Int64
    /// The prefixes, sets of names and conditions of observers.
    var filters: FilterProfile

    /// An option of a post or an observer.
    enum Option: CaseIterable {
        case object, userInfo, causedBy, immediate, timeToLive, wait, report, key, scope
        case coalesceNone, coalesceName, coalesceSender, keepsLatest, modes, maxDelay, fullStore
        case acknowledges, endsWithConnection, reports, minInterval, forever, wildcard, anyObject,
            since
    }

    init(seed: UInt64, dice: inout Dice) {
        filters = FilterProfile(seed: seed)
        names = Array(["a", "ab", "b", "c"].map { [UInt8]($0) }.prefix(dice.number(in: 1...4)))
        objects = Array(
            [nil, "o", "op", "q"].map { $0.map { [UInt8]($0) } }.prefix(
                dice.number(in: 1...4)))
        selectors = Array(
            ["notify", "s:", "t:"].map { [UInt8]($0) }.prefix(
                dice.number(in: 1...3)))
        modes = Array(
            [Mode.default, [UInt8]("held"), [UInt8]("modal"), Mode.common].prefix(
                dice.number(in: 2...4)))
        clientLimit = dice.number(in: 1...6)
        observerLimit = dice.number(in: 1...10)
        highWater = dice.oneIn(3) ? 1_000 : dice.number(in: 2...10)
        lowWater = dice.number(in: 0...max(0, min(highWater - 2, 4)))
        readLimit = dice.number(in: 1...12)
        weights = StepKind.allCases.map { kind in
            // One kind in six is left out of a seed.
            dice.oneIn(6) && kind.canBeLeftOut ? 0 : kind.weight * dice.number(in: 1...8)
        }
        weightSum = weights.reduce(0, +)
        behaviors = SuspensionBehavior.allCases.filter { _ in !dice.oneIn(3) }
        if behaviors.isEmpty { behaviors = [.hold] }
        longest = [1_000_000_000, 5_000_000_000, 60_000_000_000][dice.below(3)]
        for option in Option.allCases {
            rarity[option] = dice.oneIn(3) ? 0 : dice.number(in: 1...8)
        }
        rarity[.reports] = dice.oneIn(2) ? dice.number(in: 1...5) : 0
        rarity[.fullStore] = dice.oneIn(4) ? 30 : 0
        rarity[.object] = dice.number(in: 1...3)
        chooseLimits(&dice)
        chooseTheme(&dice)
        guard filters.isUsed else { return }
        (names, objects) = (filters.names, filters.objects)
        rarity[.userInfo] = 1
    }

    /// Lets some seeds have much of a few things at once, which chance seldom combines.
    private mutating func chooseTheme(_ dice: inout Dice) {
        switch dice.below(6) {
        case 0:
            // Coalescing posts are immediate at times, for observers that get nothing else
            // meanwhile.
            behaviors = [.drop]
            names = Array(names.prefix(1))
            objects = [nil]
            rarity[.immediate] = 3
            rarity[.coalesceNone] = 0
            rarity[.scope] = 0
            rarity[.reports] = 0
        case 1:
            // Reports go to observers that owe answers, and so bring about reports.
            behaviors = [.hold]
            rarity[.reports] = 1
            rarity[.acknowledges] = 1
            limits.unacknowledgedLimit = dice.number(in: 1...2)
        default: break
        }
    }

    private mutating func chooseLimits(_ dice: inout Dice) {
        func small(_ range: ClosedRange<Int>, _ large: Int) -> Int {
            dice.oneIn(2) ? large : dice.number(in: range)
        }
        limits.replayCountLimit = small(0...12, 1_000)
        limits.replayByteLimit = small(0...200, 4 << 20)
        limits.tombstoneLimit = small(0...6, 100)
        limits.fateLimit = small(12...20, 64)
        limits.fateLifetime = .seconds(small(1...20, 300))
        limits.askFateLifetime = limits.fateLifetime
        limits.unobservedNameLimit = small(1...3, 100)
        limits.causedByDepthLimit = small(2...5, 32)
        limits.queueEntryLimit = small(1...6, 64)
        limits.modeStackLimit = small(1...3, 32)
        limits.queueModeLimit = small(1...4, 1_000)
        limits.clientHeldCountLimit = small(1...10, 200)
        limits.clientHeldByteLimit = small(1...300, 16 << 20)
        limits.unacknowledgedLimit = small(1...4, 100)
        limits.missedDeadlineLimit = small(1...3, 3)
        limits.flushByteLimit = small(1...300, 256 << 10)
        limits.keyLimit = small(1...4, 100)
        limits.keyLifetime = .seconds(small(1...20, 300))
        limits.clientObserverLimit = small(1...5, 10_000)
        if dice.oneIn(3), modes.count > 2 { limits.commonModes = [Mode.default, modes[2]] }
        guard filters.isUsed else { return }
        limits.prefixLimit = small(0...4, 10_000)
        limits.conditionLimit = small(0...3, 10_000)
    }

    /// The limits that a `configure` command changes to.
    mutating func changeLimits(_ dice: inout Dice) { chooseLimits(&dice) }
}
