import BelfryStore
import BelfryWebSocket

/// The unfinished work of a connection: a request, a message, waiting bytes, or an answer.
final class Unfinished {
    var exchange: Exchange?
    /// A request that waits until its credentials are verified.
    var unverified: Exchange?
    var reader: MessageReader?
    var waitingBytes: [UInt8] = []
    /// A large file that is sent piece by piece, and the bytes of it that were sent.
    var content: [UInt8] = []
    var sentByteCount = 0
    /// The copy of the store that `content` is a part of, until the last part was read.
    var copy: StoreCopy?
    var copiedByteCount = 0

    /// Whether more of an answer follows.
    var isSending: Bool { !content.isEmpty || copy != nil }

    private let total: ByteTotal
    private var countedByteCount = 0

    init(_ total: ByteTotal) {
        self.total = total
    }

    deinit {
        total.add(-countedByteCount)
    }

    /// The bytes of input that are kept; a file that is being sent is shared.
    var byteCount: Int {
        (exchange?.byteCount ?? 0) + (unverified?.byteCount ?? 0) + (reader?.byteCount ?? 0)
            + waitingBytes.count
    }

    /// Forgets everything.
    func clear() {
        exchange = nil
        unverified = nil
        reader = nil
        waitingBytes = []
        content = []
        copy = nil
        recount()
    }

    /// Counts the kept bytes in the total of all connections.
    func recount() {
        let byteCount = byteCount
        total.add(byteCount - countedByteCount)
        countedByteCount = byteCount
    }
}
