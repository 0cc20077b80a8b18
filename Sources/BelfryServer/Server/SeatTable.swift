import BelfryTLS
import Synchronization

/// The connections of principals and addresses.
///
/// All loops share it: an asker must not get a share on each loop that the kernel puts connections
/// on.
final class SeatTable: Sendable {
    private let taken = Mutex<[Asker: Seats]>([:])

    /// The connections of one asker.
    struct Seats: Equatable {
        var count = 0
        var byteCount = 0
    }

    /// The bytes that a connection counts for in the memory of connections.
    static func byteCount(isSecure: Bool) -> Int {
        ServerConfiguration.connectionByteCount + (isSecure ? TLSSession.Stage.open.byteCount : 0)
    }

    /// Takes a seat for one connection; nil when its asker has as many as it may.
    ///
    /// - Parameters:
    ///   - byteCount: the bytes that the connection counts for.
    ///   - other: another seat of the connection, which is released with this one.
    func take(for asker: Asker, byteCount: Int, limit: Seats, beside other: Seat? = nil) -> Seat? {
        let isFree = taken.withLock { taken in
            var seats = taken[asker] ?? Seats()
            seats.count += 1
            seats.byteCount += byteCount
            guard seats.count <= limit.count, seats.byteCount <= limit.byteCount else {
                return false
            }
            taken[asker] = seats
            return true
        }
        return isFree ? Seat(asker, byteCount: byteCount, in: self, beside: other) : nil
    }

    fileprivate func leave(_ asker: Asker, byteCount: Int) {
        taken.withLock { taken in
            guard var seats = taken[asker] else { return }
            seats.count -= 1
            seats.byteCount -= byteCount
            taken[asker] = seats.count > 0 ? seats : nil
        }
    }
}

/// The place of one connection among those of an asker; it is released with the connection.
final class Seat: Sendable {
    let asker: Asker
    /// The seat among those of its address, beside that of its principal.
    let other: Seat?
    private let byteCount: Int
    private let table: SeatTable

    fileprivate init(_ asker: Asker, byteCount: Int, in table: SeatTable, beside other: Seat?) {
        self.asker = asker
        self.other = other
        self.byteCount = byteCount
        self.table = table
    }

    deinit {
        table.leave(asker, byteCount: byteCount)
    }
}
