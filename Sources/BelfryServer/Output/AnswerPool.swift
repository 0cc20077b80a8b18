/// The storage of the last answer that was written, which the next one uses.
///
/// An answer that is made while another one is under way gets storage of its own.
struct AnswerPool {
    private var storage: [UInt8] = []

    /// The most bytes of a content that is kept.
    private static let byteLimit = 1 << 20

    /// Makes an answer without content.
    @inline(__always)
    mutating func make(
        status: Int = 200, _ contentType: Answer.ContentType = .json
    ) -> Answer {
        var taken: [UInt8] = []
        swap(&taken, &storage)
        return Answer(status: status, contentType, storage: taken)
    }

    /// Keeps the storage of an answer that was written, or is not needed.
    @inline(__always)
    mutating func reclaim(_ answer: consuming Answer) {
        guard answer.content.capacity <= Self.byteLimit else { return }
        swap(&storage, &answer.content)
        storage.removeAll(keepingCapacity: true)
    }
}
