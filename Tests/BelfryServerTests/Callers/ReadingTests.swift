import Testing

@testable import BelfryServer

/// The table is written out for each ending by itself.
///
/// A cell is a state, what must be done, and the ending where it changes; the states are `open`,
/// `wait`, `full`, `both` and `end`.
@Suite("Reading")
struct ReadingTests {
    private static let events: [(name: String, event: Reading.Event)] = [
        ("asked", .asked), ("takenUp", .takenUp), ("answered", .answered), ("upgraded", .upgraded),
        ("contentBegan", .contentBegan), ("throttled", .throttled), ("hasRoom", .hasRoom),
        ("inputEnded", .inputEnded), ("inputRead", .inputRead), ("isLast", .isLast),
        ("closes", .closes(lingering: true)), ("closes now", .closes(lingering: false)),
        ("corked", .corked(until: 5)), ("stored", .stored(through: 5)),
    ]

    private static let never = """
                     | open       | wait            | full            | both
        asked        | wait       | wait            | both            | both
        takenUp      | open       | open            | full            | full
        answered     | open       | open reads      | full            | full
        upgraded     | open       | open reads      | full            | full
        contentBegan | full pauses| full pauses     | full pauses     | full pauses
        throttled    | full pauses| both pauses     | full pauses     | both pauses
        hasRoom      | open       | wait            | open reads      | wait
        inputEnded   | end now    | wait polls last | full input      | both input
        inputRead    | open       | wait            | full            | both
        isLast       | open       | wait last       | full last       | both last
        closes       | end closes | end closes      | end closes      | end closes
        closes now   | end now    | end now         | end now         | end now
        corked       | open       | wait            | full            | both
        stored       | open       | wait            | full            | both
        """

    /// Where the client has shut down its half, and what has arrived is still answered.
    private static let afterInput = """
                     | open       | wait            | full            | both
        asked        | wait       | wait            | both            | both
        takenUp      | open       | open            | full            | full
        answered     | open       | open reads      | full            | full
        upgraded     | open       | open reads      | full            | full
        contentBegan | full pauses| full pauses     | full pauses     | full pauses
        throttled    | full pauses| both pauses     | full pauses     | both pauses
        hasRoom      | open       | wait            | open reads      | wait
        inputEnded   | end now    | wait polls last | full            | both
        inputRead    | end closes | wait            | full            | both
        isLast       | open       | wait last       | full last       | both last
        closes       | end closes | end closes      | end closes      | end closes
        closes now   | end now    | end now         | end now         | end now
        corked       | open       | wait            | full            | both
        stored       | open       | wait            | full            | both
        """

    /// Where the answer under way is the last one.
    private static let afterAnswer = """
                     | open       | wait            | full            | both
        asked        | wait       | wait            | both            | both
        takenUp      | open       | open            | full            | full
        answered     | end closes | end closes      | end closes      | end closes
        upgraded     | open stays | open reads stays| full stays      | full stays
        contentBegan | full pauses| full pauses     | full pauses     | full pauses
        throttled    | full pauses| both pauses     | full pauses     | both pauses
        hasRoom      | open       | wait            | end closes      | wait
        inputEnded   | end now    | wait polls      | full            | both
        inputRead    | open       | wait            | full            | both
        isLast       | open       | wait            | full            | both
        closes       | end closes | end closes      | end closes      | end closes
        closes now   | end now    | end now         | end now         | end now
        corked       | open       | wait            | full            | both
        stored       | open       | wait            | full            | both
        """

    private static let states: [String: Reading.State] = [
        "open": .open, "wait": .awaiting, "full": .throttled, "both": .awaitingThrottled,
        "end": .closing,
    ]
    private static let reactions: [String: Reading.Reaction] = [
        "reads": .readOn, "pauses": .pause, "polls": .endPoll,
        "closes": .close(lingering: true), "now": .close(lingering: false),
    ]
    private static let endings: [String: Reading.Ending] = [
        "stays": .never, "input": .afterInput, "last": .afterAnswer,
    ]

    @Test(
        "each pair of a state and an event leads where the table says",
        arguments: [
            (Reading.Ending.never, never), (.afterInput, afterInput), (.afterAnswer, afterAnswer),
        ])
    func pairs(ending: Reading.Ending, table: String) throws {
        var rows = table.split(separator: "\n").map { row in
            row.split(separator: "|").map { $0.split(separator: " ").map(String.init) }
        }
        let columns = try rows.removeFirst().dropFirst().map { try #require(Self.states[$0[0]]) }
        #expect(rows.map { $0[0].joined(separator: " ") } == Self.events.map(\.name))
        for (row, (name, event)) in zip(rows, Self.events) {
            for (state, words) in zip(columns, row.dropFirst()) {
                var reading = Reading(state: state, ending: ending)
                let reaction = reading.take(event)
                #expect(reading.state == Self.states[words[0]], "\(name) in \(state)")
                let asked = words.compactMap { Self.reactions[$0] }.first ?? .nothing
                #expect(reaction == asked, "\(name) in \(state)")
                let then = words.compactMap { Self.endings[$0] }.first ?? ending
                #expect(reading.ending == then, "\(name) in \(state)")
            }
        }
    }

    /// Every value that the machine can have, with and without a cork.
    private static let all = Reading.State.allCases.flatMap { state in
        Reading.Ending.allCases.flatMap { ending in
            [0, 5].map { Reading(state: state, ending: ending, cork: $0) }
        }
    }

    @Test("every state can be closed, and nothing leads out of it", arguments: all)
    func closing(reading: Reading) {
        var closed = reading
        let reaction = closed.take(.closes(lingering: true))
        #expect(closed.isClosing)
        #expect(reaction == (reading.isClosing ? .nothing : .close(lingering: true)))
        for (name, event) in Self.events {
            var next = closed
            let reaction = next.take(event)
            #expect(next.isClosing, "\(name)")
            #expect(reaction == (name == "stored" && closed.cork != 0 ? .uncork : .nothing))
        }
    }

    @Test(
        "nothing is read while something is waited for, and it is not read on either",
        arguments: all)
    func waiting(reading: Reading) {
        if reading.state != .open {
            #expect(!reading.ignoresAnswer)
            #expect(reading.mustWait(inTurnOf: 5))
        }
        if reading.ignoresAnswer {
            var answered = reading
            #expect(answered.take(.answered) == .nothing)
            #expect(answered.take(.upgraded) == .nothing)
            #expect(answered == reading)
        }
        for (name, event) in Self.events {
            var next = reading
            let reaction = next.take(event)
            if reaction == .readOn { #expect(next.state == .open, "\(name)") }
            if reaction == .pause { #expect(next.isThrottled, "\(name)") }
            if case .close = reaction { #expect(next.isClosing, "\(name)") }
            #expect(!next.isClosing || reading.isClosing || reaction != .nothing, "\(name)")
        }
    }

    @Test("each thing that is waited for ends, in whatever order", arguments: all)
    func ends(reading: Reading) {
        for order in [[Reading.Event.answered, .hasRoom], [.hasRoom, .answered]] {
            var next = reading
            for event in order { _ = next.take(event) }
            let isLast = reading.ending == .afterAnswer
            #expect(next.state == (isLast || reading.isClosing ? .closing : .open))
        }
    }

    @Test("the turn that corked a connection reads on, and a later one does not", arguments: all)
    func corking(reading: Reading) {
        guard !reading.isClosing else { return }
        var corked = reading
        #expect(corked.take(.corked(until: 6)) == .nothing)
        #expect(corked.take(.corked(until: 6)) == .nothing)
        #expect(corked.mustWait(inTurnOf: 6) == (reading.state != .open))
        #expect(corked.mustWait(inTurnOf: 7))
        #expect(corked.take(.stored(through: 5)) == .nothing)
        #expect(corked.cork == 6)
        #expect(corked.take(.stored(through: 6)) == .uncork)
        #expect(corked.isThrottled)
        #expect(corked.cork == 0)
    }
}
