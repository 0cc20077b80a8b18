import BelfryBytes
import BelfryWire

/// The answers to a batch of calls: they are sent together, when all are there.
final class CallBatch {
    /// The destination of the answers.
    let reply: Reply
    /// The answers by the place of the call; a call without an answer has an empty one.
    private var answers: [[UInt8]] = []
    private var missingCount = 0
    /// Whether all calls were performed.
    private var isWhole = false
    /// The bytes of the answers that were there at once.
    private(set) var byteCount = 0
    /// The ticket of their promises; 0 without one.
    private(set) var ticket: UInt64 = 0
    /// The clients whose frames follow the answers.
    private var flushes: [UInt64] = []
    /// Whether a call waits for a client, which may be its own: then no frames are kept from it.
    private var waitsForOthers = false

    init(reply: Reply) {
        self.reply = reply
    }

    /// Whether all answers are there.
    var isComplete: Bool { isWhole && missingCount == 0 }

    /// Whether frames of the client wait behind the answers.
    ///
    /// They do while the answers are missing only until the client's commands are applied.
    private var holdsFrames: Bool { !isComplete && !waitsForOthers }

    /// Records that the last call was performed.
    func end() { isWhole = true }

    /// Records that a call waits for a client.
    func noteWaiting() { waitsForOthers = true }

    /// Keeps the frames of a client behind the answers.
    ///
    /// - Returns: whether they have to wait there.
    func hold(_ client: UInt64, _ connection: ConnectionNumber) -> Bool {
        guard holdsFrames, connection.rawValue == reply.number.rawValue else { return false }
        if !flushes.contains(client) { flushes.append(client) }
        return true
    }

    /// Takes the clients whose frames no longer wait behind the answers.
    func takeFlushes() -> [UInt64] {
        if holdsFrames || flushes.isEmpty { return [] }
        defer { flushes = [] }
        return flushes
    }

    /// Adds the next answer.
    func append(_ answer: borrowing Answer) {
        answers.append([UInt8](copying: answer.content.span))
        byteCount += answer.content.count
        wait(for: answer.ticket)
    }

    /// Reserves the place of a later answer.
    func appendMissing() -> CallPlace {
        answers.append([])
        missingCount += 1
        return CallPlace(batch: self, number: answers.count - 1)
    }

    private func wait(for ticket: UInt64) {
        self.ticket = max(self.ticket, ticket)
    }

    /// Puts an answer in its place.
    func fill(_ number: Int, with answer: borrowing Answer) {
        answers[number] = [UInt8](copying: answer.content.span)
        missingCount -= 1
        wait(for: answer.ticket)
    }

    /// The bytes of answers in one batch past which its looks are refused.
    private static let answerByteLimit = 256 << 10

    /// Refuses a look when the batch's answers are large: no batch may fetch a thousand pages.
    ///
    /// - Throws: 413; the caller should send smaller batches.
    func boundLooks() throws(Problem) {
        guard byteCount > Self.answerByteLimit else { return }
        throw Problem(
            .contentTooLarge,
            "The answers to this batch exceed \(Self.answerByteLimit >> 10) KiB; split the batch.",
            members: [Problem.Member("limit", integer: Self.answerByteLimit)])
    }

    /// Appends the array of all answers; nothing when there is none.
    func append(to output: inout [UInt8]) {
        var isFirst = true
        for answer in answers where !answer.isEmpty {  // Bound: calls
            output.append(UInt8(ascii: isFirst ? "[" : ","))
            output.append(contentsOf: answer)
            isFirst = false
        }
        if !isFirst { output.append(UInt8(ascii: "]")) }
    }
}

/// The place of one call in a batch.
struct CallPlace {
    let batch: CallBatch
    let number: Int
}
