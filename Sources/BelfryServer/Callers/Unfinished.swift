import BelfryStore
import BelfryWebSocket

/// What is unfinished on a connection: a request, a message, bytes that wait, or an answer.
final class Unfinished {
    var exchange: Exchange?
    /// A request that waits until its credentials are verified.
    var unverified: Exchange?
    var reader: MessageReader?
    var waitingBytes: [UInt8] = []
    /// A large file that is sent piece by piece, and how much of it was sent.
    var content: [UInt8] = []
    var sentByteCount = 0
    /// The copy of the store of which `content` is a part, until the last one was read.
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

    /// The bytes of its input that are kept; a file that is sent belongs to all.
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

    /// Counts what is kept now among what all connections keep.
    func recount() {
        let byteCount = byteCount
        total.add(byteCount - countedByteCount)
        countedByteCount = byteCount
    }
}
