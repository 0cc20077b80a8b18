import BelfryCenter

/// The centers that live on one loop, each behind its sequencer.
struct CenterTable {
    private var sequencers: [LocalSequencer] = []
    private var positions: [[UInt8]: Int] = [:]
    private var defaultPosition: Int?
    /// The centers that got a command in this turn.
    private var touched: [Int] = []
    /// The limits that new centers have.
    var limits: CenterLimits
    private let seed: HashSeed
    private let incarnation: UInt64

    init(limits: CenterLimits, seed: HashSeed, incarnation: UInt64) {
        self.limits = limits
        self.seed = seed
        self.incarnation = incarnation
    }

    var count: Int { sequencers.count }

    /// Where a center is, if it is.
    func position(of name: [UInt8]) -> Int? {
        // Arrays that share their storage are equal at once: so it is for the default center.
        if let defaultPosition, name == RoutedPath.defaultCenter { return defaultPosition }
        return positions[name]
    }

    /// Makes a center that is not there yet.
    mutating func make(_ name: [UInt8], epoch: [UInt8], time: CommandTime) -> Int {
        let center = NotificationCenter(name: name, epoch: epoch, limits: limits, seed: seed)
        sequencers.append(LocalSequencer(center: center, incarnation: incarnation, time: time))
        positions[name] = sequencers.count - 1
        if name == RoutedPath.defaultCenter { defaultPosition = sequencers.count - 1 }
        return sequencers.count - 1
    }

    /// The center at a position, to look into it.
    subscript(position: Int) -> NotificationCenter {
        _read { yield sequencers[position].center }
    }

    /// Gives a center a command.
    mutating func submit(
        _ action: consuming Command.Action, to position: Int, at time: CommandTime,
        into effects: inout Effects
    ) {
        if sequencers[position].time != time {
            sequencers[position].time = time
            touched.append(position)
        }
        sequencers[position].submit(action, into: &effects)
    }

    mutating func endTurn() {
        for position in touched { sequencers[position].endOfTurn() }
        touched.removeAll(keepingCapacity: true)
    }
}
