internal import BelfrySystem

/// A file that only takes room.
///
/// It is given up when the disk is full, so that applied changes still commit.
struct Ballast: ~Copyable {
    private static let name = "belfry.ballast"

    /// The most that it takes; the least is a 64th of it.
    private let byteCountLimit: Int
    /// The bytes that it takes now; 0 when there is no ballast.
    private(set) var byteCount = 0

    init(byteCountLimit: Int) {
        self.byteCountLimit = byteCountLimit
    }

    /// Takes as much room as there is: all, a half, a fourth, … or a 64th of the limit.
    ///
    /// - Throws: why it could not become larger, when there is none at all.
    mutating func lay(in directory: borrowing Directory) throws(StoreError) {
        var failure: SystemCallError?
        var wanted = byteCountLimit
        while wanted > byteCount, wanted >= byteCountLimit / 64 {
            do throws(SystemCallError) {
                try directory.allocate(Self.name, byteCount: wanted)
                byteCount = wanted
            } catch {
                failure = error
            }
            wanted /= 2
        }
        if byteCount == 0, let failure { throw StoreError(failure) }
    }

    /// Gives the room back to the disk.
    mutating func giveUp(in directory: borrowing Directory) throws(StoreError) {
        byteCount = 0
        do throws(SystemCallError) {
            try directory.remove(Self.name)
        } catch {
            throw StoreError(error)
        }
    }
}
