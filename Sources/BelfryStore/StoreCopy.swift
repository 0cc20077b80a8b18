internal import BelfrySystem

/// A whole copy of a store that is in use, to be read once, in parts.
///
/// Another one can be made when this one is gone.
public final class StoreCopy: Sendable {
    /// How many bytes it has.
    public let byteCount: Int
    private let read: @Sendable (@escaping @Sendable ([UInt8]) -> Void) -> Void
    private let end: @Sendable () -> Void

    /// Makes a copy out of its reader.
    ///
    /// - Parameters:
    ///   - byteCount: how many bytes it has.
    ///   - read: hands over the next part, now or later and from any thread; nothing when it cannot
    ///     be read.
    ///   - end: called once the copy has no owner any more.
    public init(
        byteCount: Int, read: @escaping @Sendable (@escaping @Sendable ([UInt8]) -> Void) -> Void,
        end: @escaping @Sendable () -> Void
    ) {
        self.byteCount = byteCount
        self.read = read
        self.end = end
    }

    deinit {
        end()
    }

    /// Requests the next part, which another thread hands over; it is empty where reading fails.
    public func readOn(_ take: @escaping @Sendable ([UInt8]) -> Void) {
        read(take)
    }
}

/// Why there is no copy.
public enum BackupError: Error, Equatable, Sendable {
    /// Another one is being made, or read.
    case underWay
    /// The store is being closed.
    case closing
    /// The disk, or the store itself, does not allow it; the store continues as before.
    case failed(StoreError)
}

/// The receiver of the outcome of a backup.
public typealias BackupOutcome = @Sendable (Result<StoreCopy, BackupError>) -> Void

/// The thread of one copy: it checks the file, and then reads the parts that are asked for.
///
/// Neither may keep a commit waiting, and a loop reads no file.
struct BackupReader: Sendable {
    /// How many bytes a part has at most.
    static let partByteCount = 256 << 10

    /// The requests to the thread.
    private struct Wishes: Sendable {
        var take: (@Sendable ([UInt8]) -> Void)?
        var isOver = false
    }

    private enum Wish: Sendable {
        case part(@Sendable ([UInt8]) -> Void)
        case end
    }

    let file: BackupFile
    let onOutcome: BackupOutcome
    /// Lets the next copy begin.
    let onEnd: @Sendable () -> Void

    /// Runs until the copy has no owner any more.
    func run() {
        let wishes = Monitor(Wishes())
        do throws(StoreError) {
            let byteCount = try file.finish()
            try file.removeNames()
            onOutcome(.success(copy(of: byteCount, asking: wishes)))
        } catch {
            return fail(error)
        }
        var offset = 0
        while case .part(let take) = nextWish(wishes) {
            let bytes = (try? file.bytes(Self.partByteCount, at: offset)) ?? []
            offset += bytes.count
            take(bytes)
        }
    }

    /// Reports that there is no copy.
    func fail(_ error: StoreError) {
        do throws(StoreError) {
            try file.giveUp()
        } catch {
            // It is removed before the next copy, and by the next start.
        }
        onEnd()
        onOutcome(.failure(.failed(error)))
    }

    private func copy(of byteCount: Int, asking wishes: Monitor<Wishes>) -> StoreCopy {
        StoreCopy(
            byteCount: byteCount,
            read: { take in wishes.change { $0.take = take } },
            end: { [onEnd] in
                wishes.change { $0.isOver = true }
                onEnd()
            })
    }

    private func nextWish(_ wishes: Monitor<Wishes>) -> Wish {
        wishes.take { wishes in
            if let take = wishes.take.take() { return .part(take) }
            return wishes.isOver ? .end : nil
        } ?? .end
    }
}
