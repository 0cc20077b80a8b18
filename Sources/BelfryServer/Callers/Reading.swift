/// Whether a connection is read, what its input waits for, and when it closes: one machine.
///
/// It has three parts, as three questions have their own answers. The `state` says what the next request or
/// message waits for, `ending` when the connection closes by itself, `cork` until when its answers are kept
/// back. A connection that waits for an answer may be throttled meanwhile, so that is a state of its own.
///
/// | event | open | awaiting | throttled | awaitingThrottled |
/// | --- | --- | --- | --- | --- |
/// | asked | awaiting | – | awaitingThrottled | – |
/// | takenUp | – | open | – | throttled |
/// | answered, upgraded | open | open, reads on | throttled | throttled |
/// | contentBegan | throttled, pauses | throttled, pauses | throttled, pauses | throttled, pauses |
/// | throttled | throttled, pauses | awaitingThrottled, pauses | same, pauses | same, pauses |
/// | hasRoom | – | – | open, reads on | awaiting |
/// | inputEnded | closing | same, ends a poll | same | same |
/// | inputRead, isLast | same | same | same | same |
/// | corked | same | same | same | same |
/// | stored | throttled, uncorks | awaitingThrottled, uncorks | same, uncorks | same, uncorks |
/// | closes | closing | closing | closing | closing |
///
/// The fifth state is `closing`. Nothing leads out of it, and of all events only `stored` has an effect there: it uncorks.
/// A dash is a pair that cannot be, and changes nothing: nothing is asked while an answer is under way,
/// nothing is taken up that does not wait. Room is told to connections that do not wait for it, as their sockets drain;
/// they ignore it.
///
/// | ending | begins with | leads to `closing` with |
/// | --- | --- | --- |
/// | never | – | – |
/// | afterInput | inputEnded in throttled, awaitingThrottled | inputRead in open |
/// | afterAnswer | inputEnded in awaiting; isLast in all states but open | answered; hasRoom in throttled |
///
/// What ends after the answer does not go back to an end after the input. An upgrade is that answer, and
/// what the connection becomes has its own end: a stream needs no input, and who opened a WebSocket is asked by pings.
struct Reading: Equatable {
    private(set) var state = State.open
    private(set) var ending = Ending.never
    /// The answers are kept back until this ticket is committed; 0 is not at all.
    private(set) var cork: UInt64 = 0

    /// What the next request or message waits for.
    enum State: UInt8, CaseIterable {
        /// For nothing.
        case open
        /// For the answer to the one before: answers keep the order of what was asked.
        case awaiting
        /// For room in the socket, or for the next turn: the client has asked for more than it reads.
        case throttled
        /// For both.
        case awaitingThrottled
        /// For ever: the connection closes once what it was sent has left.
        case closing
    }

    /// When a connection closes that nobody closes.
    enum Ending: UInt8, CaseIterable {
        case never
        /// Once all that has arrived is answered: the client has shut down its half.
        case afterInput
        /// Once the answer under way was given, whatever has arrived behind its request.
        case afterAnswer
    }

    /// What happens to a connection.
    enum Event: Equatable {
        /// A request or a message was handed out, and its answer is under way.
        case asked
        /// What waited for a verdict is in hand again.
        case takenUp
        /// The answer was written.
        case answered
        /// The same, and the connection is a WebSocket or a stream from now on.
        case upgraded
        /// The head of an answer was written that follows piece by piece.
        case contentBegan
        /// It has asked for enough.
        case throttled
        /// What it was sent has left, or enough of it.
        case hasRoom
        /// The client has shut down its half.
        case inputEnded
        /// All that has arrived was read.
        case inputRead
        /// The answer under way is the last one.
        case isLast
        /// What it was sent promises something that is not stored before this ticket is committed.
        case corked(until: UInt64)
        /// Everything up to this ticket is committed.
        case stored(through: UInt64)
        /// Somebody closes it; lingering reads and drops what still comes, so that the last answer arrives.
        case closes(lingering: Bool)
    }

    /// What must be done about it.
    enum Reaction: Equatable {
        case nothing
        /// Nothing is read from the socket.
        case pause
        /// What waited is read, and then the socket again.
        case readOn
        /// A poll at a mailbox need not wait any longer.
        case endPoll
        /// What was kept back leaves, and then there is room.
        case uncork
        /// It closes once what it was sent has left.
        case close(lingering: Bool)
    }

    // MARK: Looks

    var isClosing: Bool { state == .closing }

    var isAwaiting: Bool { state == .awaiting || state == .awaitingThrottled }

    var isThrottled: Bool { state == .throttled || state == .awaitingThrottled }

    /// Whether an answer changes nothing: so it is with nearly all of them, which are made at once.
    @inline(__always)
    var ignoresAnswer: Bool { state == .open && ending != .afterAnswer }

    /// Whether what arrives in the turn of a ticket must wait.
    ///
    /// Requests of a turn share its ticket, so what a connection asks in the turn that corked it is still read.
    /// Later requests would have a later ticket, and a client that never stops asking would never be answered.
    @inline(__always)
    func mustWait(inTurnOf ticket: UInt64) -> Bool {
        state != .open || (cork != 0 && cork < ticket)
    }

    // MARK: Moves

    /// Moves on with what happened, and says what must be done.
    mutating func take(_ event: Event) -> Reaction {
        switch (event, state) {
        case (.stored(let ticket), _):
            return uncork(through: ticket)
        case (_, .closing):
            return .nothing
        case (.closes(let isLingering), _):
            return close(lingering: isLingering)
        case (.corked(let ticket), _):
            cork = max(cork, ticket)

        case (.asked, .open): state = .awaiting
        case (.asked, .throttled): state = .awaitingThrottled
        case (.asked, .awaiting), (.asked, .awaitingThrottled): break

        case (.takenUp, .awaiting): state = .open
        case (.takenUp, .awaitingThrottled): state = .throttled
        case (.takenUp, .open), (.takenUp, .throttled): break

        case (.answered, _) where ending == .afterAnswer:
            return close(lingering: true)
        case (.answered, .awaiting), (.upgraded, .awaiting):
            state = .open
            if ending == .afterAnswer { ending = .never }
            return .readOn
        case (.answered, _), (.upgraded, _):
            if state == .awaitingThrottled { state = .throttled }
            if ending == .afterAnswer { ending = .never }

        case (.contentBegan, _):
            state = .throttled
            return .pause
        case (.throttled, _):
            throttle()
            return .pause

        case (.hasRoom, .throttled) where ending == .afterAnswer:
            return close(lingering: true)
        case (.hasRoom, .throttled):
            state = .open
            return .readOn
        case (.hasRoom, .awaitingThrottled): state = .awaiting
        case (.hasRoom, .open), (.hasRoom, .awaiting): break

        case (.inputEnded, .open):
            return close(lingering: false)
        case (.inputEnded, .awaiting):
            ending = .afterAnswer
            return .endPoll
        case (.inputEnded, _):
            if ending == .never { ending = .afterInput }

        case (.inputRead, .open) where ending == .afterInput:
            return close(lingering: true)
        case (.inputRead, _): break

        case (.isLast, .open): break
        case (.isLast, _): ending = .afterAnswer
        }
        return .nothing
    }

    private mutating func throttle() {
        switch state {
        case .open: state = .throttled
        case .awaiting: state = .awaitingThrottled
        case .throttled, .awaitingThrottled, .closing: break
        }
    }

    /// What it asks next may cork it again, so it is read when this has been written.
    private mutating func uncork(through ticket: UInt64) -> Reaction {
        guard cork != 0, cork <= ticket else { return .nothing }
        cork = 0
        throttle()
        return .uncork
    }

    private mutating func close(lingering: Bool) -> Reaction {
        state = .closing
        return .close(lingering: lingering)
    }
}
