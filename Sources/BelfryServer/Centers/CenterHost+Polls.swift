import BelfryCenter
import BelfryLoop
import BelfrySystem
import BelfryWire

// Long polls: a request waits at a mailbox, and is answered in the turn in which that has something.

extension CenterHost {
    /// Polls whose times are this close are ended together.
    private static let pollInterval: Duration = .milliseconds(5)

    /// Lets a request wait at its mailbox.
    mutating func park(_ poll: Poll, _ outbox: inout Outbox) {
        let reply = poll.submission.reply
        polls.add(poll, connection: reply.number.rawValue)
        armPolls(at: poll.deadline, &outbox)
    }

    private mutating func armPolls(at time: MonotonicTime, _ outbox: inout Outbox) {
        guard time < polls.armedTime else { return }
        if let timer = polls.timer { outbox.loop.cancel(timer) }
        polls.armedTime = time
        polls.timer = outbox.loop.schedule(at: time, LoopTimer.polls.rawValue)
    }

    /// The time of some poll may be over.
    mutating func meetPollDeadline(_ outbox: inout Outbox) {
        polls.timer = nil
        polls.armedTime = .distantFuture
        polls.endDue(at: outbox.loop.now)
        answerPolls(&outbox)
        guard let next = polls.earliestDeadline else { return }
        armPolls(at: max(next, outbox.loop.now + Self.pollInterval), &outbox)
    }

    /// A poll waits no longer; it is answered when the turn ends, with all that the turn has for it.
    mutating func endPoll(_ connection: UInt64, _ end: Poll.End) {
        polls.end(connection, end)
    }

    /// Answers all polls that wait no longer.
    mutating func answerPolls(_ outbox: inout Outbox) {
        // An answer may let a request be read that ends another poll.
        while polls.hasEnded {
            for (connection, end) in polls.takeEnded() {
                guard let poll = polls.remove(connection) else { continue }
                answer(poll, end, &outbox)
            }
        }
    }

    private mutating func answer(_ poll: Poll, _ end: Poll.End, _ outbox: inout Outbox) {
        beginAnswer(&outbox)
        switch end {
        case .filled: _ = perform(AnswerPoll(poll: poll), poll.submission, &outbox)
        case .replaced:
            let position = centers.position(of: poll.submission.center)
            refuse(endOfReading(poll, at: position), poll.submission, &outbox)
        }
    }

    /// Why a mailbox cannot be read any more.
    func endOfReading(_ poll: Poll, at position: Int?) -> Problem {
        let tombstone = position.flatMap { centers[$0].tombstone(poll.observer) }
        return tombstone.map { Problem(.observerRemoved($0)) } ?? Problem.readerReplaced
    }

    /// Appends a page of a mailbox.
    mutating func answer(_ page: MailboxPage, of observer: UInt64, _ outbox: inout Outbox) -> Answer
    {
        Shape.append(mailbox: page, observer: observer, to: &outbox.content)
        return .json
    }

    /// The connection of a poll is half closed: nobody knows how long it can still be answered.
    mutating func endPoll(of submission: Submission) {
        endPoll(submission.reply.number.rawValue, .filled)
    }

    /// The connection of a poll, or of a stream, has ended.
    mutating func detachReader(_ observer: UInt64, _ submission: Submission, _ outbox: inout Outbox)
    {
        let connection = submission.reply.number
        _ = polls.remove(connection.rawValue)
        polls.streams[connection.rawValue] = nil
        tell(
            .detachReader(observer: observer, connection.name), center: submission.center, &outbox)
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
