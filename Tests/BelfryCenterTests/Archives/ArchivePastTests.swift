import Testing

@testable import BelfryCenter

@Suite("Archives: the past (rules A7, A10, A11 and A16)")
struct ArchivePastTests {
    @Test("A11: where a channel is kept, oldest and pages read the archive alone")
    func archiveAlone() {
        var scenario = Scenario()
        scenario.post("a")
        scenario.post("b")
        scenario.archive("a")
        scenario.post("a")
        #expect(scenario.keptNumbers() == [2, 3])
        #expect(scenario.begin("a", beginning: .oldest) == PastTold(sequences: [3]))
        #expect(scenario.begin("a", since: 0) == PastTold(sequences: [1, 3]))
    }

    @Test("A7: what is not kept has its place between what is kept")
    func order() {
        var scenario = Scenario()
        scenario.archive("a")
        for name in ["b", "a", "b", "a", "b"] { scenario.post(name) }
        #expect(scenario.begin(nil, since: 0) == PastTold(sequences: [1, 2, 3, 4, 5]))
    }

    @Test("A16: what went with its archive is in no ring")
    func removedArchive() {
        var scenario = Scenario()
        scenario.archive("a")
        scenario.post("a")
        scenario.removeArchive("a")
        #expect(scenario.keptNumbers() == [])
        #expect(scenario.begin("a", since: 0) == PastTold(gaps: [1...1]))
    }

    @Test("A3: an archive whose kinds have all gone takes a kind of any number")
    func kindsAnew() {
        var scenario = Scenario()
        scenario.archive("a*")
        scenario.post("a1")
        scenario.post("a2")
        scenario.removeArchive("a*")
        scenario.archive("a*")
        scenario.post("a3")
        scenario.post("a4")
        #expect(scenario.keptNumbers() == [3, 4])
    }

    @Test("A10: the named number comes again to the second observer, out of the archive")
    func namedNumber() {
        var scenario = Scenario(limits: .ring(0))
        scenario.archive("a")
        let client = scenario.connect()
        for _ in 0..<2 {
            let registration = scenario.registration("a", nil, ObserverTerms())
            scenario.apply(.addObserver(registration, client: client, since: nil))
        }
        scenario.post("a")
        scenario.disconnect(client)
        let newcomer = scenario.connect()
        scenario.apply(.resume(Resumption(newcomer: newcomer, client: client, after: 1)))
        #expect(scenario.told == PastTold(sequences: [1]))
    }

    @Test("A6: what ended while the broker was down is gone at the start, its ttl before its age")
    func endedBeforeStart() {
        var stored = StoredScenario()
        stored.run { $0.archive("a") { ($0.isStored, $0.age, $0.keepLast) = (true, 1_000, 1) } }
        for _ in 0..<2 { stored.run { $0.post("a") } }
        let brief = Post(
            id: NotificationID(high: 1, low: 1), content: Notification.Content(name: bytes("a")),
            options: PostOptions(timeToLive: 500_000_000))
        stored.run { $0.apply(.post(brief, PostTerms())) }
        stored.scenario.milliseconds += 2_000
        stored.restart(isComplete: false)
        #expect(stored.scenario.keptNumbers() == [2])
        #expect(stored.stored.image.kept.map(\.notification.sequence) == [2])
    }

    @Test("A12: a search for some of each counts the names and objects that it remembers")
    func searchFootprint() throws {
        var scenario = Scenario()
        scenario.archive("a")
        let object = String(repeating: "o", count: 200)
        for number in 0..<50 { scenario.post("a", "\(object)\(number)") }
        scenario.observe("a", by: scenario.connect())
        let member = PastReader.Member(
            0, after: 0, .lastEach(1), join: 50, scenario.center.registry)
        var search = try #require(member.search)
        // Two looks for each: one to find it, and one to compare it.
        var work = PastWork(looks: 60)
        let isDone = search.goOn(
            for: member, in: scenario.center.archives, scenario.center.history.replay,
            scenario.center.registry.index, at: scenario.time, &work)
        #expect(!isDone && search.foundCount == 30)
        let each = search.footprint / 30
        #expect((200..<400).contains(each), "\(each) bytes for each")
    }
}
