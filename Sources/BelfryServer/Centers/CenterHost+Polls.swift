import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire

// Long polls: a request waits at a mailbox, and is answered in the turn in which the mailbox fills.

extension CenterHost {
    /// Ends all waits, and answers as many as the turn has room for.
    mutating func releaseAllWaits(_ context: inout LoopContext) {
        waits.releaseAll()
        answerPolls(&context)
        answerFates(&context)
        answerValues(&context)
    }

    /// Whether some waits have ended, and are not answered yet.
    @inline(__always)
    var hasWaitEnds: Bool {
        completions.hasCompleted || waits.haveEnded
    }

    /// Answers polls that have ended, one in any case, and more while the turn has room.
    mutating func answerPolls(_ context: inout LoopContext) {
        while let (wait, end) = waits.mailboxes.next() {  // Share: polls
            answer(wait, end, &context)
            if context.largeAnswersMustWait { return }
        }
    }

    private mutating func answer(
        _ wait: Wait<Never, Waits.MailboxPoll>, _ end: WaitEnd, _ context: inout LoopContext
    ) {
        switch end {
        case .changed, .over:
            if let logProblem { return refuse(logProblem, wait.submission, &context) }
            endWait(of: wait.subject, wait.submission, &context)
        case .replaced:
            let position = centers.position(of: wait.submission.center)
            let problem = centers.endOfReading(wait.subject.observer, at: position)
            refuse(problem, wait.submission, &context)
        }
    }

    /// Appends the last event of a mailbox's stream: observer removed, or reader replaced.
    mutating func appendStreamEnd(
        _ connection: UInt64, at position: Int, to bytes: inout [UInt8]
    ) {
        let words = Transport.ofMailboxStreams.words
        let observer = waits.streams.removeValue(forKey: connection)
        if let observer, let tombstone = centers[position].tombstone(observer) {
            words.append(removed: observer, tombstone, to: &bytes)
        } else {
            words.append(.takenOver, to: &bytes)
        }
    }
}
