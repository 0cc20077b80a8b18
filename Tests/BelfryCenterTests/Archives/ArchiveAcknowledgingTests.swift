import Testing

@testable import BelfryCenter

@Suite("Archives: observers that acknowledge (rules A7, A10 and A16)")
struct ArchiveAcknowledgingTests {
    private var scenario = Scenario(limits: .ring(0))
    private let client: UInt64
    private let observer: UInt64

    /// A channel that is kept, with the notifications 1 and 2, and an observer from number 0 on.
    init() {
        scenario.archive("a")
        for _ in 0..<2 { scenario.post("a") }
        client = scenario.connect()
        var terms = ObserverTerms()
        terms.acknowledges = true
        let registration = scenario.registration("a", nil, terms)
        observer = registration.serial
        scenario.apply(.addObserver(registration, client: client, since: 0))
    }

    @Test("A7: each of a replay is acknowledged by its own number, and owes nothing afterwards")
    mutating func replay() {
        #expect(scenario.told == PastTold(sequences: [1, 2]))
        #expect(heldNumbers == [1, 2])
        for number in heldNumbers { acknowledge(number) }
        #expect(heldNumbers == [])
        scenario.removeArchive("a")
        #expect(scenario.center.heldCount == 0)
    }

    @Test("A7: a post amid the acknowledgements of a replay is one more, behind them")
    mutating func postAmid() {
        acknowledge(1)
        scenario.post("a")
        #expect(scenario.told == PastTold(sequences: [3]))
        #expect(heldNumbers == [2, 3])
        for number in heldNumbers { acknowledge(number) }
        #expect(heldNumbers == [])
    }

    @Test("A10: what was sent and not acknowledged comes again with the replay, once")
    mutating func cut() {
        acknowledge(1)
        scenario.disconnect(client)
        let newcomer = scenario.connect()
        scenario.apply(.resume(Resumption(newcomer: newcomer, client: client, after: 1)))
        #expect(scenario.told == PastTold(sequences: [2]))
        #expect(heldNumbers == [2])
        acknowledge(2)
        #expect(heldNumbers == [])
    }

    @Test("A16: what is forgotten is owed no more, and is a gap")
    mutating func forgotten() {
        scenario.forget("a")
        #expect(scenario.told == PastTold(gaps: [1...2]))
        #expect(heldNumbers == [])
    }

    /// The numbers of all that is held, in their order.
    private var heldNumbers: [UInt64] {
        var numbers: [UInt64] = []
        var kept = scenario.center.backlog.held.oldest
        while kept != HeldTable.none {
            if let found = scenario.center.backlog.held.keptNotification(at: kept) {
                numbers.append(found.sequence)
            }
            kept = scenario.center.backlog.held.next(after: kept)
        }
        return numbers
    }

    private mutating func acknowledge(_ sequence: UInt64) {
        let name = DeliveryName(observer: observer, sequence: sequence)
        let outcome = scenario.apply(.acknowledge(client: client, name, .result([])))
        #expect(outcome == .done)
    }
}
