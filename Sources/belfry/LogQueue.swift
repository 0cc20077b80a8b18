import BelfrySystem

/// The lines of the log that wait to be written, and the thread that writes them.
///
/// A thread that adds a line never waits for the reader. Lines that do not fit are lost and
/// counted, and the reader sees their count in their place.
final class LogQueue: Sendable {
    typealias Write = @Sendable (Span<UInt8>) throws(SystemCallError) -> Void

    private let byteLimit: Int
    private let state = Monitor(State())

    private struct State: Sendable {
        /// Whole lines that the thread has not taken yet.
        var waiting = Batch()
        /// The bytes that are being written.
        var writingByteCount = 0
        /// All lines that were lost.
        var lostCount: UInt64 = 0
        var isClosing = false

        var isWritten: Bool { waiting.isEmpty && writingByteCount == 0 }
    }

    /// Lines, and how many were lost behind them.
    private struct Batch: Sendable {
        var bytes: [UInt8] = []
        var lineCount = 0
        var lostCount = 0

        var isEmpty: Bool { bytes.isEmpty && lostCount == 0 }
    }

    /// The next work of the thread.
    private enum Order: Sendable {
        case write(Batch)
        case end
    }

    /// Starts the thread.
    ///
    /// - Parameters:
    ///   - byteLimit: how many bytes may wait, those that are being written among them; each line
    ///     has some, so this bounds the lines too.
    ///   - lossLine: the line that tells of so many lost ones.
    ///   - write: writes all bytes, or tells why it cannot; it may block.
    /// - Throws: what the system says when it has no room for a thread.
    init(
        byteLimit: Int, lossLine: @escaping @Sendable (Int) -> [UInt8], write: @escaping Write
    ) throws(SystemCallError) {
        self.byteLimit = byteLimit
        // The thread runs on by itself; the process may end before it does.
        _ = try SystemThread { [state] in
            var unwrittenCount = 0
            while case .write(let batch) = Self.nextOrder(state) {
                var bytes = unwrittenCount > 0 ? lossLine(unwrittenCount) : []
                bytes += batch.bytes
                if batch.lostCount > 0 { bytes += lossLine(batch.lostCount) }
                do throws(SystemCallError) {
                    try write(bytes.span)
                    unwrittenCount = 0
                    state.change { $0.writingByteCount = 0 }
                } catch {
                    // A reader that has gone, or a full disk: nothing but the log is lost.
                    unwrittenCount += batch.lineCount + batch.lostCount
                    state.change {
                        $0.writingByteCount = 0
                        $0.lostCount += UInt64(batch.lineCount)
                    }
                }
            }
        }
    }

    /// Waits for lines, or for the end.
    private static func nextOrder(_ state: Monitor<State>) -> Order {
        state.take { state in
            if state.waiting.isEmpty { return state.isClosing ? Order.end : nil }
            var batch = Batch()
            swap(&batch, &state.waiting)
            // A line that tells of losses is being written too.
            state.writingByteCount = max(1, batch.bytes.count)
            return .write(batch)
        } ?? .end
    }

    /// Adds a line with its line feed, or counts it as lost.
    func add(_ line: [UInt8]) {
        state.change { state in
            // Once a line is lost the next ones are too, up to where the reader is told of it.
            guard state.waiting.lostCount == 0,
                state.waiting.bytes.count + state.writingByteCount + line.count <= byteLimit
            else {
                state.waiting.lostCount += 1
                state.lostCount += 1
                return
            }
            state.waiting.bytes += line
            state.waiting.lineCount += 1
        }
    }

    /// How many lines were lost since the start.
    var lostCount: UInt64 { state.change { $0.lostCount } }

    /// Waits until all lines are written, for so long at most; later lines are lost.
    ///
    /// - Returns: whether everything was written, or cannot be.
    func close(within time: Duration) -> Bool {
        state.change { $0.isClosing = true }
        return state.take(until: .now() + time) { $0.isWritten ? true : nil } ?? false
    }
}
