/// A notification that was dispatched, and what is known of its post.
final class DispatchedNote {
    let id: [UInt8]
    let sequence: UInt64
    let content: HistoryContent
    let command: Int
    let life: Int
    /// Nil where an outsider cannot know: it represents posts of others.
    var isImmediate: Bool?
    /// When it is too old, on the clock of its life; nil is never.
    var expiresAt: Int64?
    /// In an earlier life it was queued, or dispatched.
    var isRestored = false
    /// Whether its poster still waits for the answer: a crash may lose it.
    var isUnanswered = false
    /// How many observers it must have matched, and how many more it may have.
    var mustMatch = 0
    var mayMatch = 0
    /// How many of them are mailboxes, whose polls count as deliveries before a page shows it.
    var mailboxCount = 0
    /// The count of observers that it was written to, each once, and those of the last command.
    var writtenCount = 0
    var lastWrites = (command: 0, count: 0)
    /// Something happened after which an outsider no longer knows its exact account.
    var isClouded = false
    /// Its observers may still be walked.
    var isOpen = true
    /// How many entries of the queue its post took out; nil where an outsider cannot know.
    var takenCount: Int?
    /// The last receipt of it.
    var receipt: HistoryReceipt?
    var acknowledgedCount = 0
    var refusedCount = 0

    func noteWrite(command: Int) {
        writtenCount += 1
        lastWrites = (command, lastWrites.command == command ? lastWrites.count + 1 : 1)
    }

    init(_ notification: HistoryNotification, command: Int, life: Int) {
        id = notification.id
        sequence = notification.sequence
        content = notification.content
        self.command = command
        self.life = life
    }
}

/// The deliveries that one observer must get, and their fates.
final class ObserverAccount {
    /// A notification that the observer must have, be told the loss of, or still be held.
    struct Due {
        let note: DispatchedNote
        var writeCount = 0
        /// When it was written last, and during which command.
        var lastWritten = 0
        var lastCommand = 0
        /// It was acknowledged or refused since.
        var isAcknowledged = false
        /// It was at some time, before it came again.
        var wasAcknowledged = false
        /// The first frame was marked as a repetition, or the broker may not know that it came.
        var cameMarked = false
        /// A crash may have put it back among what is held, and it did not come since.
        var wasPutBack = false
        /// A crash undid a delivery that was not promised to any client.
        var isOptional = false
        /// Its client was suspended for certain when it was dispatched.
        var wasSuspended = false
    }

    /// A loss that was told.
    struct Told {
        let gap: HistoryGap
        let moment: Int
        let command: Int
        /// Its teller may have forgotten that it told it.
        var isOptional = false
        /// A mailbox acknowledged it.
        var isClosed = false
    }

    /// A replay that its client asked for.
    struct Replay {
        let moment: Int
        let time: Int64
        let after: UInt64
        /// The life in which the client named this number, if it was never written one as high.
        var claimedIn: Int?
    }

    let observer: HistoryObserver
    let command: Int
    let isMailbox: Bool
    var isAlive = true
    /// It was asked for the removal, or it was seen that it is gone; at which command.
    var isToGo = false
    var isLeaving = false
    var removedCommand = 0
    /// In the order of sequence numbers.
    var dues: [Due] = []
    var told: [Told] = []
    var replays: [Replay] = []
    /// From above which numbers it was given again what the ring had; it may have lost that again.
    var replayedAbove: [UInt64] = []
    /// The last number that came unmarked.
    var lastSequence: UInt64 = 0
    /// The last one of each kind that came while its client was suspended.
    var lastSuspended: [HistoryKind: DispatchedNote] = [:]
    /// When losses were told last, and when before the command that told these.
    var toldMoment = 0
    var toldBefore = 0
    var toldCommand = 0
    /// The held count of the last listing.
    var heldCount = 0
    /// The number up to which a mailbox was read, acknowledgements, the stream, and the last look.
    ///
    /// A crash may undo some acknowledgements.
    var acknowledgedThrough: UInt64 = 0
    var acknowledgements: [(through: UInt64, command: Int)] = []
    var reader: UInt64?
    var lookedAt: Int64 = 0

    init(_ observer: HistoryObserver, command: Int, isMailbox: Bool) {
        self.observer = observer
        self.command = command
        self.isMailbox = isMailbox
    }

    /// Whether the filter is true; who is filtered out has nothing due (rule W8).
    func matches(_ content: HistoryContent) -> Bool {
        content.matches(name: observer.name, object: observer.object, observer.filter)
    }

    /// The place of the first due with this number or a higher one.
    func place(from sequence: UInt64) -> Int {
        var low = 0
        var high = dues.count
        while low < high {
            let middle = (low + high) / 2
            if dues[middle].note.sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func place(of sequence: UInt64) -> Int? {
        let place = place(from: sequence)
        return place < dues.count && dues[place].note.sequence == sequence ? place : nil
    }
}

extension HistoryObserver {
    var shown: String { "o\(serial)" }
}
