internal import BelfryCenter

/// The twin of ``StoreFile`` that writes nothing: a value, for simulations.
public struct MemoryStore: DurableStore, Sendable {
    private var image = StoreImage()
    private var endsInOrder = false
    /// The centers of the tombstones, by their places in the image, the oldest first.
    private var tombstoneCenters: ArraySlice<[UInt8]> = []
    private let limits: StoreLimits

    /// Makes a store that has nothing yet, in its first life.
    public init(limits: StoreLimits = StoreLimits()) {
        self.limits = limits
    }

    /// Keeps all changes, in their order.
    public mutating func commit(_ changes: [StoreChange]) throws(StoreError) {
        for change in changes {
            switch change {
            case .center(let name, let changes):
                for change in changes { apply(change, name: name) }
            case .centerEnded(let name):
                image.apply(change)
                // Its tombstones still count, without a center.
                for place in tombstoneCenters.indices where tombstoneCenters[place] == name {
                    tombstoneCenters[place] = []
                }
            case .cleanEnd: endsInOrder = true
            case .observersReserved, .clientsReserved, .modesReserved, .lifeBegan, .epochsRenewed:
                image.apply(change)
            }
        }
    }

    private mutating func apply(_ change: Change, name: [UInt8]) {
        image.apply(change, name: name)
        if case .observerRemoved = change { trimTombstones(afterOneOf: name) }
    }

    /// Loads all stored state, piece by piece.
    public mutating func load(_ tell: (consuming StoredPiece) -> Void) throws(StoreError) {
        var facts = image
        facts.centers = []
        tell(.broker(facts))
        for center in image.centers {
            let bare = CenterImage(
                name: center.name, epoch: center.epoch, sequence: center.sequence,
                isComplete: center.isComplete)
            tell(.center(bare))
            center.forEachRow { tell(.row($0)) }
        }
    }

    /// Begins the next life, as opening the file again does.
    public mutating func restart(isCopied: Bool = false) {
        image.incarnation += 1
        image.isComplete = endsInOrder
        if isCopied { image.isCopied = true }
        endsInOrder = false
        for index in image.centers.indices {
            image.centers[index].isComplete = image.isComplete
        }
    }

    private mutating func trimTombstones(afterOneOf name: [UInt8]) {
        tombstoneCenters.append(name)
        while tombstoneCenters.count > limits.tombstoneLimit {
            let oldest = tombstoneCenters.removeFirst()
            guard let index = image.centers.firstIndex(where: { $0.name == oldest }) else {
                continue
            }
            image.centers[index].tombstones.removeFirst()
        }
    }
}
