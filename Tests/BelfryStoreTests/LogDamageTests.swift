import BelfryCenter
import BelfrySystem
import Testing

@testable import BelfryStore

/// A log that is not what was committed: SQLite would end it there and say nothing.
@Suite("LogReport and LogWitness: a damaged log")
struct LogDamageTests {
    static let header = LogReport.headerByteCount
    static let frame = StoreChange.frameByteCount

    /// The files of a life that was killed, and what they amount to.
    struct Killed {
        var main: [UInt8]
        var log: [UInt8]
        var lock: [UInt8]
        let image: StoreImage
    }

    /// A life of 30 commits, each of which was told.
    private func killed(_ durability: Durability) throws -> Killed {
        let directory = try TemporaryDirectory()
        var source = ChangeSource(seed: 3, userInfoByteLimit: 3_000)
        var file = try StoreFile(directory: directory.path, durability: durability)
        try file.layBallast()
        for _ in 0..<30 { try file.commit(source.batch(8)) }
        return Killed(
            main: try directory.bytes(of: "belfry.db"),
            log: try directory.bytes(of: "belfry.db-wal"),
            lock: try directory.bytes(of: "belfry.lock"), image: content(of: try file.load()))
    }

    private func content(of image: StoreImage) -> StoreImage {
        var image = image
        image.incarnation = 0
        image.isComplete = false
        image.isCopied = false
        for index in image.centers.indices { image.centers[index].isComplete = false }
        return image
    }

    /// The result of a start; a start that is refused must leave the files as they were.
    private func start(_ killed: Killed, _ durability: Durability) throws -> Result<
        StoreImage, StoreError
    > {
        let directory = try TemporaryDirectory()
        try write(killed, to: directory)
        do {
            var file = try StoreFile(directory: directory.path, durability: durability)
            return .success(content(of: try file.load()))
        } catch {
            #expect(try directory.bytes(of: "belfry.db") == killed.main)
            #expect(try directory.bytes(of: "belfry.db-wal") == killed.log)
            return .failure(error)
        }
    }

    private func write(_ killed: Killed, to directory: TemporaryDirectory) throws {
        try directory.write(killed.main, to: "belfry.db")
        try directory.write(killed.log, to: "belfry.db-wal")
        if !killed.lock.isEmpty { try directory.write(killed.lock, to: "belfry.lock") }
    }

    /// A kind of damage, at a place that the generator says.
    private func damage(_ log: inout [UInt8], _ random: inout SeededGenerator) {
        let frameCount = (log.count - Self.header) / Self.frame
        let start = Self.header + random.below(frameCount) * Self.frame
        switch random.below(7) {
        case 0: log[random.below(log.count)] ^= UInt8(1 << random.below(8))
        case 1: for index in start..<start + Self.frame { log[index] = 0 }
        case 2: log.removeSubrange(random.below(log.count)...)
        case 3: log.removeSubrange(start...)
        case 4: for index in start..<start + 512 { log[index] = UInt8(random.below(256)) }
        case 5:
            let other = Self.header + random.below(frameCount) * Self.frame
            for offset in 0..<Self.frame { log.swapAt(start + offset, other + offset) }
        default: for index in 0..<min(4_096, log.count) { log[index] = 0 }
        }
    }

    @Test(
        "each damage is found, or changes nothing, and is only accepted when asked",
        arguments: Durability.allCases, 1...3)
    func variants(_ durability: Durability, seed: UInt64) throws {
        let sound = try killed(durability)
        #expect(try start(sound, durability).get() == sound.image)
        var random = SeededGenerator(seed: seed)
        var refusals = 0
        for _ in 0..<20 {
            var damaged = sound
            damage(&damaged.log, &random)
            switch try start(damaged, durability) {
            case .success(let image): #expect(image == sound.image)
            case .failure(.damaged(.brokenLog(let pageCount, let commitCount))):
                refusals += 1
                #expect(pageCount > 0 && commitCount > 0)
                let directory = try TemporaryDirectory()
                try write(damaged, to: directory)
                do {
                    var file = try StoreFile(
                        directory: directory.path, durability: durability, acceptsDamage: true)
                    #expect(file.losses.pageCount == pageCount)
                    #expect(file.losses.commitCount == commitCount)
                    let image = try file.load()
                    #expect(image.isCopied && !image.isComplete)
                }
                _ = try StoreFile(directory: directory.path, durability: durability)
            case .failure(let error): Issue.record("\(error)")
            }
        }
        #expect(refusals > 10)
    }

    /// The same files after the machine was started again.
    private func rebooted(_ killed: Killed, forgetsLock: Bool = false) -> Killed {
        var killed = killed
        var witness = LogWitness(text: killed.lock)
        #expect(witness.boot == BootIdentity.current() && witness.frameCount > 0)
        witness.boot = Sample.bytes("another")
        killed.lock = forgetsLock ? [] : witness.text
        return killed
    }

    @Test("after a loss of power a log that ends early is damage for power, and none for process")
    func powerLoss() throws {
        for durability in Durability.allCases {
            var killed = rebooted(try killed(durability))
            killed.log.removeLast(Self.frame)
            switch try start(killed, durability) {
            case .success(let image):
                #expect(durability == .process)
                #expect(image != killed.image)
            case .failure(let error):
                #expect(durability == .power)
                guard case .damaged(.brokenLog(_, commitCount: 1)) = error else {
                    Issue.record("\(error)")
                    continue
                }
            }
        }
    }

    @Test("without what the lock file knows, a commit behind a damaged one tells of it")
    func laterFrames() throws {
        var killed = rebooted(try killed(.power), forgetsLock: true)
        let frameCount = (killed.log.count - Self.header) / Self.frame
        let sound = killed.log
        killed.log[Self.header + 2 * Self.frame + 100] ^= 1
        guard
            case .failure(.damaged(.brokenLog(let pageCount, let commitCount))) =
                try start(killed, .power)
        else {
            Issue.record("it was not found")
            return
        }
        #expect(pageCount == frameCount - 2 && commitCount >= 30)
        // With process a loss of power may leave that.
        _ = try start(killed, .process).get()
        // A torn end looks like damage of the last commit: nothing follows it.
        killed.log = sound
        killed.log[sound.count - 100] ^= 1
        #expect(try start(killed, .power).get() != killed.image)
    }

    @Test("a log that was moved may be missing, but not be there in part")
    func moved() throws {
        let directory = try TemporaryDirectory()
        var source = ChangeSource(seed: 3, userInfoByteLimit: 3_000)
        var file = try StoreFile(directory: directory.path, durability: .power)
        try file.layBallast()
        for _ in 0..<10 { try file.commit(source.batch(8)) }
        try file.connection.checkpoint(truncates: false)
        var witness = LogWitness(text: try directory.bytes(of: "belfry.lock"))
        witness.isMoved = true
        var killed = Killed(
            main: try directory.bytes(of: "belfry.db"),
            log: try directory.bytes(of: "belfry.db-wal"), lock: witness.text,
            image: content(of: try file.load()))
        #expect(try start(killed, .power).get() == killed.image)
        killed.log[Self.header + 5 * Self.frame + 100] ^= 1
        #expect(throws: StoreError.self) { try start(killed, .power).get() }
        let copy = try TemporaryDirectory()
        try write(killed, to: copy)
        var accepted = try StoreFile(directory: copy.path, durability: .power, acceptsDamage: true)
        #expect(accepted.losses.isEmpty)
        #expect(content(of: try accepted.load()) == killed.image)
        killed.log = []
        #expect(try start(killed, .power).get() == killed.image)
    }

    @Test("what the lock file says is read as it was written, and that of earlier programs too")
    func text() {
        var witness = LogWitness()
        witness.incarnation = 17
        witness.boot = Sample.bytes("0b3a0c9e-8a8e-4a4f-9d4e-1c1b2a3d4e5f")
        witness.durability = .process
        witness.salts = .max
        witness.frameCount = 2_714
        witness.commitCount = 99
        witness.isMoved = false
        #expect(witness.text.count == LogWitness.byteCount)
        #expect(LogWitness(text: witness.text) == witness)
        var earlier = LogWitness()
        earlier.incarnation = 17
        #expect(LogWitness(text: Sample.bytes("17")) == earlier)
        #expect(LogWitness(text: []) == LogWitness())
        #expect(LogWitness(text: Sample.bytes("x y z")) == LogWitness())
    }
}
