/// Whether a connection is read, the reason why its input waits, and when it closes.
///
/// It is one machine with three parts. `state` is the wait of the next request or message, `ending`
/// says when the connection closes by itself, `cork` until when its answers are kept back. A
/// connection that waits for an answer may be throttled meanwhile, so that is a state of its own.
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
/// The fifth state is `closing`. It is final, and only `stored` has an effect in it: it uncorks. A
/// dash is a pair that cannot occur, and changes nothing: there is no request while an answer is
/// under way, and only a waiting one is taken up. Connections get `hasRoom` as their sockets
/// drain; those that do not wait for it ignore it.
///
/// | ending | begins with | leads to `closing` with |
/// | --- | --- | --- |
/// | never | – | – |
/// | afterInput | inputEnded in throttled, awaitingThrottled | inputRead in open |
/// | afterAnswer | inputEnded in awaiting; isLast in all states but open | answered; hasRoom in
/// throttled |
///
/// An end after the answer does not change back to an end after the input. An upgrade is that
/// answer, and the new connection has its own end: a stream needs no input, and a WebSocket is
/// pinged.
struct Reading: Equatable {
    private(set) var state = State.open
    private(set) var ending = Ending.never
    /// The ticket until whose commit answers are kept back; 0 for none.
    private(set) var cork: UInt64 = 0

    /// The wait of the next request or message.
    enum State: UInt8, CaseIterable {
        /// No wait.
        case open
        /// The answer to the one before: answers keep the order of requests.
        case awaiting
        /// Room in the socket, or the next turn: the client has requested more than it reads.
        case throttled
        /// Both.
        case awaitingThrottled
        /// No end of the wait: the connection closes once its output has left.
        case closing
    }

    /// The time at which a connection closes by itself.
    enum Ending: UInt8, CaseIterable {
        case never
        /// Once all input is answered: the client has shut down its half.
        case afterInput
        /// Once the answer under way was given, whatever input is behind its request.
        case afterAnswer
    }

    /// An event of a connection.
    enum Event: Equatable {
        /// A request or a message was handed out, and its answer is under way.
        case asked
        /// A request that waited for a verdict is taken up again.
        case takenUp
        /// The answer was written.
        case answered
        /// The answer was written, and the connection is a WebSocket or a stream from now on.
        case upgraded
        /// The head of an answer in pieces was written.
        case contentBegan
        /// It has requested enough.
        case throttled
        /// Its output has left, or enough of it.
        case hasRoom
        /// The client has shut down its half.
        case inputEnded
        /// All input was read.
        case inputRead
        /// The answer under way is the last one.
        case isLast
        /// Its answer promises something that is not stored before this ticket is committed.
        case corked(until: UInt64)
        /// Everything up to this ticket is committed.
        case stored(through: UInt64)
        /// The broker closes it; lingering drops further input, so that the last answer arrives.
        case closes(lingering: Bool)
    }

    /// The reaction to an event.
    enum Reaction: Equatable {
        case nothing
        /// The socket is no longer read.
        case pause
        /// Waiting bytes are read, and then the socket again.
        case readOn
        /// A poll at a mailbox need no longer wait.
        case endPoll
        /// Answers that were kept back leave, and then there is room.
        case uncork
        /// It closes once its output has left.
        case close(lingering: Bool)
    }

    // MARK: Looks

    var isClosing: Bool { state == .closing }

    var isAwaiting: Bool { state == .awaiting || state == .awaitingThrottled }

    var isThrottled: Bool { state == .throttled || state == .awaitingThrottled }

    /// Whether an answer changes nothing, as with nearly all of them, which are made at once.
    @inline(__always)
    var ignoresAnswer: Bool { state == .open && ending != .afterAnswer }

    /// Whether input in the turn of a ticket must wait.
    ///
    /// Requests of a turn share its ticket, so further requests in the turn that corked a
    /// connection are still read. Later ones would have a later ticket, and a client that never
    /// stops would never be answered.
    @inline(__always)
    func mustWait(inTurnOf ticket: UInt64) -> Bool {
        state != .open || (cork != 0 && cork < ticket)
    }

    // MARK: Moves

    /// Moves on with an event, and returns the reaction.
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

    /// Uncorks; the next request may cork again, so it is read when this output is written.
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
