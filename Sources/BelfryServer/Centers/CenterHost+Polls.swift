import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire

// Long polls: a request waits at a mailbox, and is answered in the turn in which the mailbox fills.

extension CenterHost {
    /// Answers the polls whose time is over.
    mutating func meetPollDeadline(_ outbox: inout Outbox) {
        polls.meetDeadline(&outbox)
        answerPolls(&outbox)
        polls.armAgain(&outbox)
    }

    /// Whether some waits have ended, and are not answered yet.
    @inline(__always)
    var hasWaitEnds: Bool {
        completions.hasCompleted || polls.hasEnded || asks.hasEnded || values.hasEnded
    }

    /// Answers polls that have ended, one in any case, and more while the turn has room.
    mutating func answerPolls(_ outbox: inout Outbox) {
        while let (poll, end) = polls.takeNext() {  // Share: polls
            answer(poll, end, &outbox)
            if outbox.largeAnswersMustWait { return }
        }
    }

    private mutating func answer(_ poll: Poll, _ end: Poll.End, _ outbox: inout Outbox) {
        beginAnswer(&outbox)
        switch end {
        case .filled:
            if let logProblem { return refuse(logProblem, poll.submission, &outbox) }
            endWait(of: poll, &outbox)
        case .replaced:
            let position = centers.position(of: poll.submission.center)
            refuse(centers.endOfReading(poll.observer, at: position), poll.submission, &outbox)
        }
    }

    /// Appends the last event of a mailbox's stream: observer removed, or reader replaced.
    mutating func appendStreamEnd(
        _ connection: UInt64, at position: Int, to bytes: inout [UInt8]
    ) {
        let words = Transport.ofMailboxStreams.words
        let observer = polls.streams.removeValue(forKey: connection)
        if let observer, let tombstone = centers[position].tombstone(observer) {
            words.append(removed: observer, tombstone, to: &bytes)
        } else {
            words.append(.takenOver, to: &bytes)
        }
    }
}
