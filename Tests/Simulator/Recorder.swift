import BelfryCenter

/// What happens to a center, as bytes that a second process replays, and a second center here that
/// does the same at once: their digests must be equal at every thousandth command.
struct Recorder {
    private var replayer: Replayer
    private var writer: CommandWriter?
    private var commandCount = 0

    /// What stands before each part of a record.
    enum Part: UInt8 {
        case command, endOfTurn, commit, restart, digest
    }

    /// After how many commands the digests are compared.
    static let interval = 1_000

    init(name: [UInt8], epoch: [UInt8], limits: CenterLimits) {
        replayer = Replayer(name: name, epoch: epoch, limits: limits)
    }

    /// Keeps the bytes, for a file.
    mutating func keepBytes(name: [UInt8], epoch: [UInt8], limits: CenterLimits) {
        var writer = CommandWriter()
        writer.write(name)
        writer.write(epoch)
        writer.write(limits)
        self.writer = writer
    }

    var bytes: [UInt8] { writer?.bytes ?? [] }

    mutating func record(_ command: Command) {
        write(.command) { $0.write(command) }
        replayer.apply(command)
        commandCount += 1
    }

    mutating func endTurn() {
        write(.endOfTurn) { _ in }
        replayer.endTurn()
    }

    mutating func commit() throws(Violation) {
        write(.commit) { _ in }
        try replayer.commit()
    }

    mutating func restart(
        limits: CenterLimits, epoch: [UInt8], isComplete: Bool, time: CommandTime
    ) throws(Violation) {
        write(.restart) { writer in
            writer.write(limits)
            writer.write(epoch)
            writer.write(isComplete)
            writer.write(time.wallMilliseconds)
            writer.write(time.monotonicNanoseconds)
            writer.write(time.timerNanoseconds)
        }
        try replayer.restart(limits: limits, epoch: epoch, isComplete: isComplete, time: time)
    }

    /// Compares with the center that did the same.
    mutating func compare(with center: borrowing NotificationCenter) throws(Violation) {
        guard commandCount % Self.interval == 0 else { return }
        let digest = center.digest()
        write(.digest) { $0.write(digest) }
        guard replayer.digest == digest else {
            throw Violation("after \(commandCount) commands a second center has another digest")
        }
    }

    private mutating func write(_ part: Part, _ body: (inout CommandWriter) -> Void) {
        guard writer != nil else { return }
        writer?.bytes.append(part.rawValue)
        if var writer {
            self.writer = nil
            body(&writer)
            self.writer = writer
        }
    }
}

/// A center and a store that do what a record says.
struct Replayer {
    private var center: NotificationCenter
    private var store: CenterStore
    private var effects = Effects()
    private var turn: [Change] = []
    private var uncommitted: [[Change]] = []

    init(name: [UInt8], epoch: [UInt8], limits: CenterLimits) {
        // Another seed than the first center has: no digest may depend on it.
        center = NotificationCenter(
            name: name, epoch: epoch, limits: limits, seed: HashSeed(0x5eed, 0x2))
        store = CenterStore(name: name)
    }

    var digest: UInt64 { center.digest() }

    mutating func apply(_ command: Command) {
        center.apply(command, at: center.appliedIndex + 1, into: &effects)
        turn += effects.changes
    }

    mutating func endTurn() {
        uncommitted.append(turn)
        turn = []
    }

    mutating func commit() throws(Violation) {
        guard !uncommitted.isEmpty else { return }
        try store.commit(uncommitted.removeFirst())
    }

    mutating func restart(
        limits: CenterLimits, epoch: [UInt8], isComplete: Bool, time: CommandTime
    ) throws(Violation) {
        turn = []
        uncommitted = []
        let seed = HashSeed(0x5eed, 0x3)
        if let image = try store.restart(isComplete: isComplete) {
            center = NotificationCenter(
                restoring: image, limits: limits, seed: seed, time: time)
            center.assignOwners { Owner(ofPrincipal: $0) }
        } else {
            center = NotificationCenter(
                name: center.name, epoch: epoch, limits: limits, seed: seed)
        }
    }

    /// Replays a record; tells how many digests were equal.
    static func replay(_ bytes: [UInt8]) throws(Violation) -> Int {
        var reader = CommandReader(bytes)
        let name = reader.text()
        let epoch = reader.text()
        var replayer = Replayer(name: name, epoch: epoch, limits: reader.limits())
        var equalCount = 0
        while !reader.isAtEnd {
            switch reader.raw(Recorder.Part.self) {
            case .command: if let command = reader.next() { replayer.apply(command) }
            case .endOfTurn: replayer.endTurn()
            case .commit: try replayer.commit()
            case .restart:
                let limits = reader.limits()
                let epoch = reader.text()
                let isComplete = reader.flag()
                let time = CommandTime(
                    wallMilliseconds: reader.number(), monotonicNanoseconds: reader.number(),
                    timerNanoseconds: reader.number())
                try replayer.restart(
                    limits: limits, epoch: epoch, isComplete: isComplete, time: time)
            case .digest:
                guard reader.word() == replayer.digest else {
                    throw Violation("digest \(equalCount + 1) differs in this process")
                }
                equalCount += 1
            }
        }
        return equalCount
    }
}
