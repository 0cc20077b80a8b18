import BelfryCenter
import BelfryStore
import BelfrySystem

/// Makes what the loops begin with out of the pieces that a store tells.
///
/// A center is made of its rows as they are told: all of them together may need as much memory as the broker
/// may have, and more: then the youngest are left out.
struct StateRestoration: ~Copyable {
    private var limits: CenterLimits
    private let time: CommandTime
    private let secrets = CenterSecrets()
    private let makeEpoch: () -> [UInt8]
    /// What the life before has dispatched, where that is known.
    private let marks: (CenterImage, StoreImage) -> DispatchMarks?
    private var facts = StoreImage()
    /// What the store must know before anybody is served.
    private var changes: [StoreChange] = []
    private var centers: [NotificationCenter] = []
    /// The center whose rows are told.
    private var current: CenterRestoration?
    /// The losses of that one.
    private var leftOut = LeftOutOfCenter(sequence: 0)
    private var memory: RestoredMemory

    /// Begins with nothing.
    ///
    /// - Parameters:
    ///   - limits: what centers keep to.
    ///   - kept: how much memory all centers may keep.
    ///   - time: since when their clients are away, and what is left of times runs.
    ///   - marks: what a center has dispatched in the life before, where that is known.
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

    /// Takes a piece.
    ///
    /// A store that was copied back may know less than its observers do: all centers get new epochs, so that no
    /// position of the past is taken for one of this life.
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
            // The first numbers of this life are reserved before anybody can be given one of them: a
            // delivery does not wait for a commit.
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
            if let growth = current?.noteKept(ifChangedBy: Self.leastKeptChange) {
                memory.add(growth)
            }
        }
    }

    /// How many bytes more or less a center keeps, about, before that is found out.
    private static let leastKeptChange = 4_096

    /// Gives all of it, once the store has the first numbers of this life.
    consuming func finish(
        in store: inout some DurableStore & ~Copyable
    ) throws(StoreError) -> Beginning {
        finishCenter()
        var beginning = Beginning(facts, centers, secrets: secrets, at: time)
        beginning.leftOut = memory.leftOut
        let requests = beginning.numbers.all.compactMap { $0.takeRequest() }
        try store.commitStart(changes + requests.map(\.change))
        for request in requests { request.block.commit(through: request.through) }
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
