public import BelfryCenter

/// All that a store has: a restarted broker begins with it.
public struct StoreImage: Sendable, Equatable {
    /// The centers, in the order in which they came to the store.
    public var centers: [CenterImage] = []
    /// Observers' serial numbers up to this one may have been used.
    public var observersReserved: UInt64 = 0
    /// Client numbers up to this one may have been used.
    public var clientsReserved: UInt64 = 0
    /// Serial numbers of mode leases up to this one may have been used.
    public var modesReserved: UInt64 = 0
    /// Which life of the broker this is, counted from 1.
    public var incarnation: UInt64 = 1
    /// Whether the last life ended in order; each center's image says it too.
    public var isComplete = true
    /// Whether the file was copied back: all centers must get new epochs before they are used.
    public var isCopied = false

    /// Makes the image of a store that has nothing yet.
    public init() {}

    /// Brings a piece into the image that a store tells; a row belongs to the last center.
    public mutating func take(_ piece: StoredPiece) {
        switch piece {
        case .broker(let found): self = found
        case .center(let center): centers.append(center)
        case .row(let change): centers[centers.count - 1].apply(change)
        }
    }

    /// Leaves out what belongs to observers or notifications that are gone.
    public mutating func dropStrays() {
        for index in centers.indices { centers[index].dropStrays() }
    }

    /// Brings one change into the image; `cleanEnd` shows only in the next life.
    public mutating func apply(_ change: StoreChange) {
        switch change {
        case .center(let name, let changes):
            for change in changes { apply(change, name: name) }
        case .centerEnded(let name): centers.removeAll { $0.name == name }
        case .observersReserved(let serial): observersReserved = max(observersReserved, serial)
        case .clientsReserved(let id): clientsReserved = max(clientsReserved, id)
        case .modesReserved(let serial): modesReserved = max(modesReserved, serial)
        case .lifeBegan(let number): incarnation = number
        case .epochsRenewed: isCopied = false
        case .cleanEnd: break
        }
    }

    /// Brings one change of a center into the image.
    mutating func apply(_ change: Change, name: [UInt8]) {
        let index = centers.firstIndex { $0.name == name }
        if let index {
            centers[index].apply(change)
        } else if case .center(let record) = change {
            centers.append(CenterImage(name: name, epoch: record.epoch, isComplete: isComplete))
        } else {
            preconditionFailure("a center is stored before what belongs to it")
        }
    }
}
