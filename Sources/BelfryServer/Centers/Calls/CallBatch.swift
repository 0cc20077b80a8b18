import BelfryWire

/// The answers to a batch of calls: they leave together, when the last of them is there.
final class CallBatch {
    /// Where they go.
    let reply: Reply
    /// By the place of the call; a call without an answer has an empty one.
    private var answers: [[UInt8]] = []
    private var missingCount = 0
    /// Whether all calls were performed.
    private var isWhole = false
    /// The bytes of the answers that were there at once.
    private(set) var byteCount = 0
    /// The ticket of what they promise; 0 if they promise nothing.
    private(set) var ticket: UInt64 = 0
    /// The clients whose frames go on behind the answers.
    private var flushes: [UInt64] = []
    /// Whether a call waits for somebody else, who may be the client itself: then nothing is kept from it.
    private var waitsForOthers = false

    init(reply: Reply) {
        self.reply = reply
    }

    /// Whether all answers are there.
    var isComplete: Bool { isWhole && missingCount == 0 }

    /// Whether frames of the client stay behind the answers: these are not there, but they will be as soon as
    /// its commands are applied.
    private var holdsFrames: Bool { !isComplete && !waitsForOthers }

    /// The last call was performed.
    func end() { isWhole = true }

    /// A call waits for somebody else.
    func noteWaiting() { waitsForOthers = true }

    /// Keeps the frames of a client behind the answers.
    ///
    /// - Returns: whether they have to stay there.
    func hold(_ client: UInt64, _ connection: ConnectionNumber) -> Bool {
        guard holdsFrames, connection.rawValue == reply.number.rawValue else { return false }
        flushes.append(client)
        return true
    }

    /// Takes the clients whose frames stay behind the answers no longer.
    func takeFlushes() -> [UInt64] {
        if holdsFrames || flushes.isEmpty { return [] }
        defer { flushes = [] }
        return flushes
    }

    /// Adds the next answer.
    func append(_ answer: [UInt8]) {
        answers.append(answer)
        byteCount += answer.count
    }

    /// The place of an answer that comes later.
    func appendMissing() -> CallPlace {
        answers.append([])
        missingCount += 1
        return CallPlace(batch: self, number: answers.count - 1)
    }

    /// The answers must wait for what has changed so far.
    func wait(for ticket: UInt64) {
        self.ticket = max(self.ticket, ticket)
    }

    /// Puts an answer in its place.
    func fill(_ number: Int, with answer: [UInt8], ticket: UInt64) {
        answers[number] = answer
        missingCount -= 1
        wait(for: ticket)
    }

    /// The answers of one batch may have so many bytes before its looks are refused.
    private static let answerByteLimit = 256 << 10

    /// A batch of a thousand looks must not have an answer of a thousand pages.
    ///
    /// - Throws: 413, which asks for smaller batches.
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
