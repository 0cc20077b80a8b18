import BelfryCenter
import BelfryStore
import BelfrySystem

/// Restores the state for the loops from the pieces of a store.
///
/// A center is made of its rows as they are read, since all of them together may need as much
/// memory as the broker may have. If they need more, the youngest are left out.
struct StateRestoration: ~Copyable {
    private var limits: CenterLimits
    private let time: CommandTime
    private let secrets = CenterSecrets()
    private let makeEpoch: () -> [UInt8]
    /// The marks that the previous life has left of a center; nil without a record.
    private let marks: (CenterImage, StoreImage) -> DispatchMarks?
    private var facts = StoreImage()
    /// The changes that must be stored before a client is served.
    private var changes: [StoreChange] = []
    /// The numbers that they reserve.
    private var requests: [NumberRequest] = []
    private var numbers = Numbers()
    private var centers: [NotificationCenter] = []
    /// The center whose rows are being read.
    private var current: CenterRestoration?
    /// The losses of this center.
    private var leftOut = LeftOutOfCenter(sequence: 0)
    private var memory: RestoredMemory

    /// Begins with nothing.
    ///
    /// - Parameters:
    ///   - limits: the limits of centers.
    ///   - kept: the most memory of all centers.
    ///   - time: the time since which clients are away, and from which remaining times run.
    ///   - marks: the marks that the previous life has left of a center; nil without a record.
    ///   - makeEpoch: text that no other life of a center has.
    init(
        limits: CenterLimits, kept: KeptMemory, at time: CommandTime,
        marks: @escaping (CenterImage, StoreImage) -> DispatchMarks? = { _, _ in nil },
        makeEpoch: @escaping () -> [UInt8]
    ) {
        self.marks = marks
        self.limits = limits
        self.limits.isDurable = true
        memory = RestoredMemory(limits: kept)
        self.time = time
        self.makeEpoch = makeEpoch
    }

    /// Adds a piece.
    ///
    /// A store that was copied back may know less than its observers do: all centers get new
    /// epochs, so that no position of the past is valid in this life.
    mutating func take(_ piece: consuming StoredPiece) {
        switch consume piece {
        case .broker(let found):
            facts = found
            changes = found.isCopied ? [.epochsRenewed] : []
            centers = []
            current = nil
            memory.begin()
        case .center(var image):
            finishCenter()
            let known = marks(image, facts)
            if facts.isCopied {
                image.epoch = makeEpoch()
                let record = CenterRecord(epoch: image.epoch)
                changes.append(.center(name: image.name, .center(record)))
            }
            // The first numbers of this life are reserved before one can be given: a delivery does
            // not wait for a commit.
            let through = image.sequence + NotificationCenter.sequenceBlock
            changes.append(.center(name: image.name, .sequenceReserved(through: through)))
            leftOut = LeftOutOfCenter(sequence: image.sequence)
            current = CenterRestoration(
                of: image, limits: limits, seed: secrets.hashSeed, time: time,
                marks: known, isReserved: true)
        case .row(let row):
            guard memory.hasRoom(for: row), !leftOut.lacksClient(of: row) else {
                memory.leaveOut(row)
                return leftOut.note(row)
            }
            current?.take(leftOut.replacement(for: row))
            var growth = KeptMemory()
            let hasGrown = current?.noteKept(
                ifChangedBy: Self.leastKeptChange, addingTo: &growth)
            if hasGrown == true { memory.add(growth) }
        }
    }

    /// The growth of a center, in bytes, past which its memory is counted again.
    private static let leastKeptChange = 4_096

    /// Returns the changes of the start behind the last piece: the first numbers of this life,
    /// and what ended while the state was restored.
    mutating func start() -> [StoreChange] {
        finishCenter()
        numbers = Numbers(after: facts)
        requests = numbers.all.compactMap { $0.takeRequest() }
        return changes + requests.map(\.change)
    }

    /// Returns the state, once the store has the changes of the start.
    consuming func finish() -> Beginning {
        for request in requests { request.block.commit(through: request.through) }
        var beginning = Beginning(facts, centers, numbers, secrets: secrets, at: time)
        beginning.leftOut = memory.leftOut
        return beginning
    }

    private mutating func finishCenter() {
        guard let done = current.take() else { return }
        var ended: [Change] = []
        let center = done.finish { ended.append($0) }
        ended += leftOut.gaps
        for change in ended { changes.append(.center(name: center.name, change)) }
        centers.append(center)
    }
}
