import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire

// Long polls: a request waits at a mailbox, and is answered in the turn in which that has something.

extension CenterHost {
    /// The time of some poll may be over.
    mutating func meetPollDeadline(_ outbox: inout Outbox) {
        polls.meetDeadline(&outbox)
        answerPolls(&outbox)
        polls.armAgain(&outbox)
    }

    /// Whether somebody waits no longer, and is not answered yet.
    @inline(__always)
    var hasWaitEnds: Bool {
        completions.hasCompleted || polls.hasEnded || asks.hasEnded || values.hasEnded
    }

    /// Answers the polls that wait no longer, one in any case, and more while the turn has room.
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

    /// Appends what the reader of a stream is told last: its observer is gone, or another reader has come.
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
