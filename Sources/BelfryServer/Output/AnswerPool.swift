/// The storage of answers that were written, which the next ones use.
struct AnswerPool {
    private var free: [[UInt8]] = []

    /// The most contents that are kept: one answer is made at a time, or few within each other.
    private static let limit = 4

    /// The most bytes of a content that is kept.
    private static let byteLimit = 1 << 20

    /// Makes an answer without content.
    @inline(__always)
    mutating func make(
        status: Int = 200, _ contentType: Answer.ContentType = .json
    ) -> Answer {
        Answer(status: status, contentType, storage: free.popLast() ?? [])
    }

    /// Keeps the storage of an answer that was written, or is not needed.
    mutating func reclaim(_ answer: consuming Answer) {
        guard free.count < Self.limit, answer.content.capacity <= Self.byteLimit else { return }
        var storage: [UInt8] = []
        swap(&storage, &answer.content)
        storage.removeAll(keepingCapacity: true)
        free.append(storage)
    }
}
