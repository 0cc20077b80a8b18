import BelfryHistory
import Glibc

// Runs the broker's machines in one thread against a model of the rules.
//
//     belfry-simulator run           against the model; one line a violation, exit code 1 if any
//         --history                  judged from outside, too
//         --history-only             judged from outside alone
//     belfry-simulator asks          responders and asks, judged from outside alone
//     belfry-simulator actions       observers with targets, against a model of their own
//     belfry-simulator timers        timers, clocks and crashes, judged from outside alone
//     belfry-simulator values        values and their observers, judged from outside alone
//     belfry-simulator present       present values beside what is posted
//     belfry-simulator mixed         all of them at once
//     belfry-simulator archives      archives, and observers that begin in the past
//     belfry-simulator cluster [--nodes N]   brokers that share a log, and all that goes wrong
//     belfry-simulator snapshots     a state of fewer steps a seed, and two centers from there on
//         all of these: [--seeds A..B] [--steps N]
//     belfry-simulator verbose SEED [--steps N]      the steps of one seed before its violation
//     belfry-simulator history SEED [--steps N]      all that an outsider saw of one seed
//     belfry-simulator record FILE SEED [--steps N]  what happens in one seed, as a file
//     belfry-simulator replay FILE                   the same in this process: equal digests

/// The order of the command line.
struct Order {
    var verb = "run"
    var operands: [String] = []
    var seeds: ClosedRange<UInt64> = 1...1_000
    var stepCount = 10_000
    /// How many brokers share a log.
    var nodeCount = 3
    /// After how many violations it ends.
    var violationLimit = 20
    /// Whether the whole history of a seed is judged too.
    var isJudgedByHistory = false
    /// Whether the model is left out.
    var isJudgedByHistoryAlone = false

    init?(_ arguments: [String]) {
        var rest = arguments.dropFirst()
        if let first = rest.first, !first.hasPrefix("--") {
            verb = first
            rest = rest.dropFirst()
        }
        if verb == "snapshots" || verb == "cluster" { stepCount = 1_000 }
        while let argument = rest.popFirst() {
            switch argument {
            case "--seeds":
                let ends = (rest.popFirst() ?? "").split(separator: ".").compactMap { UInt64($0) }
                guard ends.count == 2, ends[0] <= ends[1] else { return nil }
                seeds = ends[0]...ends[1]
            case "--steps":
                guard let count = rest.popFirst().flatMap({ Int($0) }) else { return nil }
                stepCount = count
            case "--nodes":
                guard let count = rest.popFirst().flatMap({ Int($0) }), 1...16 ~= count else {
                    return nil
                }
                nodeCount = count
            case "--first": violationLimit = 1
            case "--history": isJudgedByHistory = true
            case "--history-only": isJudgedByHistoryAlone = true
            case _ where argument.hasPrefix("--"): return nil
            default: operands.append(argument)
            }
        }
    }
}

func run(
    _ seed: UInt64, _ order: Order, stepCount: Int? = nil, tells: Bool = false
) -> (World, Violation?) {
    let world = World(seed: seed)
    world.isJudgedByHistory = order.isJudgedByHistory || order.isJudgedByHistoryAlone
    world.isJudgedByHistoryAlone = order.isJudgedByHistoryAlone
    world.tellsSteps = tells
    do throws(Violation) {
        for _ in 0..<(stepCount ?? order.stepCount) { try world.step() }
        try world.finish()
    } catch {
        return (world, error)
    }
    return (world, nil)
}

func runAll(_ order: Order) -> Int32 {
    var violationCount = 0
    var commandCount: UInt64 = 0
    for seed in order.seeds {
        let (world, violation) = run(seed, order)
        commandCount += world.commandCount
        guard let violation else { continue }
        violationCount += 1
        print("seed \(seed), step \(world.stepCount): \(violation.text)")
        // The same again, and this time it tells what it does.
        let (again, _) = run(seed, order, stepCount: world.stepCount, tells: true)
        for line in again.told.suffix(12) { print("    \(line)") }
        if violationCount >= order.violationLimit { break }
    }
    let stepCount = order.seeds.count * order.stepCount
    print(
        """
        \(order.seeds.count) seeds, \(stepCount) steps, \(commandCount) commands: \
        \(violationCount) violations
        """)
    return violationCount == 0 ? 0 : 1
}

/// A world that ends with its first violation.
protocol SmallWorld {
    var commandCount: UInt64 { get }
    /// The last commands, for the report of a violation.
    var lastTold: ArraySlice<String> { get }
    func step() throws(Violation)
    /// All steps are done: judges the whole.
    func finish() throws(Violation)
    /// How often something has happened that must be judged.
    var tally: [String: Int] { get }
}

extension SmallWorld {
    func finish() throws(Violation) {}
    var tally: [String: Int] { [:] }
}

extension AskWorld: SmallWorld {}
extension ActionWorld: SmallWorld {}
extension TimerWorld: SmallWorld {}
extension ValueWorld: SmallWorld {}
extension PresentWorld: SmallWorld {}
extension MixedWorld: SmallWorld {}
extension ArchiveWorld: SmallWorld {}
extension ClusterWorld: SmallWorld {}

func runAll(_ makeWorld: (_ seed: UInt64) -> some SmallWorld, _ order: Order) -> Int32 {
    var violationCount = 0
    var tally: [String: Int] = [:]
    for seed in order.seeds {
        let world = makeWorld(seed)
        defer { tally.merge(world.tally, uniquingKeysWith: +) }
        do throws(Violation) {
            for _ in 0..<order.stepCount { try world.step() }
            try world.finish()
        } catch {
            violationCount += 1
            print("seed \(seed), command \(world.commandCount): \(error.text)")
            for line in world.lastTold { print("    \(line)") }
            if violationCount >= order.violationLimit { break }
        }
    }
    print("\(order.seeds.count) seeds of \(order.stepCount) steps: \(violationCount) violations")
    for (what, count) in tally.sorted(by: { $0.key < $1.key }) { print("    \(count) \(what)") }
    return violationCount == 0 ? 0 : 1
}

func verbose(_ order: Order) -> Int32 {
    guard let seed = order.operands.first.flatMap({ UInt64($0) }) else { return 2 }
    let (world, violation) = run(seed, order, tells: true)
    for line in world.told { print(line) }
    for line in world.model.shown { print(line) }
    guard let violation else { return 0 }
    print("seed \(seed), step \(world.stepCount): \(violation.text)")
    return 1
}

func tellHistory(_ order: Order) -> Int32 {
    guard let seed = order.operands.first.flatMap({ UInt64($0) }) else { return 2 }
    let (world, violation) = run(seed, order)
    for line in world.history.lines { print(line) }
    guard let violation else { return 0 }
    print("seed \(seed), step \(world.stepCount): \(violation.text)")
    return 1
}

func perform() -> Int32 {
    let verbs = """
        run, asks, actions, timers, values, present, mixed, archives, cluster, snapshots, verbose, \
        history, record or replay; \
        main.swift has their options
        """
    guard let order = Order(CommandLine.arguments) else {
        print(verbs)
        return 2
    }
    switch order.verb {
    case "run": return runAll(order)
    case "asks": return runAll(AskWorld.init(seed:), order)
    case "actions": return runAll(ActionWorld.init(seed:), order)
    case "timers": return runAll(TimerWorld.init(seed:), order)
    case "values": return runAll(ValueWorld.init(seed:), order)
    case "present": return runAll(PresentWorld.init(seed:), order)
    case "mixed": return runAll(MixedWorld.init(seed:), order)
    case "archives": return runAll(ArchiveWorld.init(seed:), order)
    case "cluster":
        return runAll({ ClusterWorld(seed: $0, nodeCount: order.nodeCount) }, order)
    case "snapshots": return runSnapshots(order)
    case "verbose": return verbose(order)
    case "history": return tellHistory(order)
    case "record": return record(order)
    case "replay": return replay(order)
    default:
        print(verbs)
        return 2
    }
}

exit(perform())
