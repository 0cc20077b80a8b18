import BelfryCenter
import BelfryCluster
import BelfryHistory
import SimulatedLog
import TestSupport

/// Brokers that share a log, programs that use them, and all faults between them.
///
/// It is judged by the sight of the programs: nothing that was answered is lost, no number is given
/// twice, nothing is repeated without a mark, each loss is reported, and all brokers have one state
/// after each entry.
final class ClusterWorld {
    var dice: Dice
    let engine: SimulatedEngine
    var nodes: [ClusterNode] = []
    var programs: [ClusterProgram] = []
    var posts: [ClusterPost] = []
    var postOf: [NotificationID: ClusterPost] = [:]
    var truth = ClusterTruth()
    var now: Int64 = 0
    /// Until when no program goes away by itself, and nothing else goes wrong.
    var stillUntil: Int64 = 0
    /// Whether faults may still be planted.
    var isDisturbed = true
    var commandCount: UInt64 = 0
    var told: [String] = []
    var lastNumber: UInt64 = 0
    /// The level of the first program to start: the log begins with it, unless that one fails.
    let firstLevel: UInt64
    /// The level that was asked for.
    var askedLevel: UInt64 = 1
    /// Which observer a command removes.
    var removals: [CommandID: UInt64] = [:]
    /// The client whose observers a command removes, and the filter that they have.
    var filterRemovals: [CommandID: (client: UInt64, filter: HistoryFilter)] = [:]
    /// Which program a command brings back, and what that says to have seen.
    var resumes: [CommandID: (program: Int, after: UInt64?)] = [:]
    /// Which delivery a command acknowledges, and the index at which its program was asked.
    var acknowledgements: [CommandID: (delivery: DeliveryName, askedAt: UInt64)] = [:]
    /// The tickets that may have been handed out, in the order of their requests.
    var lastTickets: [UInt64] = []
    var tickets: [UInt64: ClusterTicket] = [:]
    /// Whether beats are lost while faults are planted: what that brings about may come later.
    private(set) var losesBeats = false
    /// Whether a clock has jumped.
    var hasWildClock = false
    /// Whether the engine has lost what it had acknowledged.
    var isRewound = false
    /// The violation that was found where none could be thrown.
    var problem: Violation?
    var tally: [String: Int] = [:]
    /// How many commands an entry has: where few have room, ends of connections wait behind others.
    let commandLimit: Int
    static let latestLevel = Shard.levelFive
    /// The filters of observers, once all brokers know them.
    var filters: FilterProfile
    static let centers = [[UInt8]("default"), [UInt8]("other")]

    init(seed: UInt64, nodeCount: Int) {
        dice = Dice(seed: seed)
        filters = FilterProfile(seed: seed, hearsReports: false)
        engine = SimulatedEngine(seed: dice.next())
        commandLimit = dice.oneIn(2) ? dice.number(in: 1...4) : 4_096
        firstLevel = dice.oneIn(2) ? UInt64(dice.number(in: 1...2)) : Self.latestLevel
        // An older program could not come up behind a newer one.
        let othersStartAt: Int64 = firstLevel < Self.latestLevel ? 400_000_000 : 0
        for number in 0..<nodeCount {
            nodes.append(ClusterNode(number: number, dice: &dice))
            nodes[number].level = number == 0 || dice.oneIn(4) ? firstLevel : Self.latestLevel
            if number > 0 { nodes[number].startsAt = othersStartAt }
        }
        for number in 0..<dice.number(in: 2...6) {
            programs.append(
                ClusterProgram(
                    number: number, center: Self.centers[dice.below(2)], saysSeen: !dice.oneIn(3)))
        }
        var faults = SimulatedEngine.Faults()
        faults.delay = Int64(dice.number(in: 1...12)) * 1_000_000
        // A calm world finds what a wild one hides.
        if !dice.oneIn(4) {
            faults.lostRequest = dice.number(in: 20...400)
            faults.lostAnswer = dice.number(in: 20...400)
            faults.lateAnswer = dice.number(in: 50...1_000)
            faults.staleAnswer = dice.number(in: 10...400)
            faults.lostPush = dice.number(in: 20...400)
            faults.doubledPush = dice.number(in: 10...200)
            faults.lostBeat = dice.number(in: 5...50)
        }
        engine.faults = faults
        losesBeats = faults.lostBeat > 0
    }

    var lastTold: ArraySlice<String> { told.suffix(60) }

    func tell(_ text: @autoclosure () -> String) {
        told.append("\(now / 1_000_000) ms: \(text())")
        if told.count > 2_000 { told.removeFirst(1_000) }
    }

    func count(_ what: String) { tally[what, default: 0] += 1 }

    func fail(_ text: String) -> Violation { Violation(text) }

    // MARK: Steps

    func step() throws(Violation) {
        switch dice.below(30) {
        case 0...2: try disturb()
        case 3...6: move()
        case 7...9: register()
        case 10...17: post()
        case 18: postAgain()
        case 19...23: for place in programs.indices where dice.oneIn(2) { try read(place) }
        case 24: removeObserver()
        case 25: others()
        case 26: useTicket()
        case 27: suspend()
        case 28: goOn()
        default: break
        }
        try pass(Int64(dice.below(dice.oneIn(10) ? 90 : 12)) * 1_000_000 + 100_000)
    }

    /// Time passes, and all brokers that run have their turn.
    func pass(_ nanoseconds: Int64) throws(Violation) {
        now += nanoseconds
        engine.run(until: now)
        for node in nodes {
            if node.process == nil, node.startsAt <= now { start(node) }
            node.noteHealth(at: now)
            guard let process = node.process, node.standsStillUntil <= now else { continue }
            try turn(node, process)
        }
        try judgeSilence()
    }

    private func start(_ node: ClusterNode) {
        let journal = engine.connect()
        journal.host = node.number
        journal.isCut = node.cutSince != nil
        var options = ClusterOptions(node: node.name)
        options.level = node.level
        // The broker that begins a log asks for the level of its program.
        if engine.lastIndex == 0 { askedLevel = max(askedLevel, node.level) }
        // Few schedules would have a snapshot otherwise.
        options.snapshotByteCount = 4_000
        options.commandLimit = commandLimit
        let sequencer = ReplicatedSequencer(
            options, journal: journal, at: node.time(at: now),
            random: { [unowned self] in dice.next() },
            wallMilliseconds: { [unowned self, unowned node] in
                1_700_000_000_000 + now / 1_000_000 + node.clockOffset / 5_000_000
            })
        node.process = ClusterProcess(
            journal: journal, sequencer: sequencer,
            shard: Shard(limits: Self.limits, seed: HashSeed(dice.next(), dice.next())))
        if node.crashesUntil > now, dice.oneIn(3) { node.process?.restOfLife = dice.below(80) }
        tell("n\(node.number) starts")
    }

    static let limits: CenterLimits = {
        var limits = CenterLimits().ofLog
        limits.replayCountLimit = 5_000
        return limits
    }()

    /// Runs one turn of a broker: it reads the log, applies it, and appends.
    func turn(_ node: ClusterNode, _ process: ClusterProcess) throws(Violation) {
        let time = node.time(at: now)
        if isDisturbed, dice.oneIn(2_000) { process.restOfLife = dice.below(8) }
        while let happening = process.sequencer.next(
            &process.shard, at: time, into: &process.effects)
        {
            try act(on: happening, node, process)
            if process.restOfLife == 0, isDisturbed { return dieWithinTurn(node, process) }
            process.restOfLife -= 1
        }
        try judgeState(node, process)
        process.sequencer.tick(process.shard, at: time)
        while let happening = process.sequencer.next(
            &process.shard, at: time, into: &process.effects)
        {
            try act(on: happening, node, process)
        }
        for (number, connection) in process.connections {
            process.connections[number]?.handedCount = connection.written.count
        }
        process.sequencer.endTurn(at: time)
        if process.sequencer.stage == .left { end(node, process, isOrderly: true) }
    }

    private func dieWithinTurn(_ node: ClusterNode, _ process: ClusterProcess) {
        tell("n\(node.number) dies within a turn")
        count("deaths within a turn")
        for (number, connection) in process.connections {
            let lost = connection.written.count - connection.handedCount
            process.connections[number]?.written.removeLast(lost)
        }
        end(node, process, isOrderly: false)
    }

    // MARK: The end of a seed

    /// The faults end; soon all brokers have one state, and all programs have what they must have.
    func finish() throws(Violation) {
        isDisturbed = false
        engine.faults = SimulatedEngine.Faults()
        engine.faults.delay = 3_000_000
        for node in nodes { heal(node) }
        for node in nodes where node.process == nil { node.startsAt = min(node.startsAt, now) }
        if dice.oneIn(12) { return try finishRewound() }
        if dice.oneIn(12) { return try finishDiverged() }
        try wait(seconds: 25)
        for place in programs.indices where programs[place].place == nil { connect(place) }
        try wait(seconds: 6)
        for place in programs.indices { try read(place) }
        try judgeEnd()
    }

    func wait(seconds: Int64) throws(Violation) {
        let end = now + seconds * 1_000_000_000
        while now < end {
            try pass(Int64(dice.number(in: 20...60)) * 1_000_000)
            if dice.oneIn(10) {
                goOn()
                for place in programs.indices {
                    try read(place)
                    if programs[place].place == nil, dice.oneIn(4) { connect(place) }
                }
            }
        }
    }
}
