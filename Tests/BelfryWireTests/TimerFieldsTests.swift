import Testing

@testable import BelfryCenter
@testable import BelfryWire

@Suite("Posts that enter the queue later (Protocol.md section 14)")
struct TimerFieldsTests {
    private let reader = RequestReader()
    private static let second: Int64 = 1_000_000_000

    private func options(_ members: String) throws(Problem) -> PostOptions? {
        let (posts, _) = try reader.notifications("{\"name\":\"a\",\(members)}")
        return posts.first?.options
    }

    private func options(query: [(String, String)]) throws(Problem) -> PostOptions? {
        try reader.channelPost("", options: query).options
    }

    /// The places of the faults of some members, in content and in a query.
    private func faults(_ members: [(String, String)]) -> [String] {
        let json = members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",")
        let query = members.map { ($0.0, $0.1.replacing("\"", with: "")) }
        var found: [[String]] = []
        do throws(Problem) {
            _ = try options(json)
            found.append([])
        } catch {
            found.append(error.errors.map { "\($0.place)" })
        }
        do throws(Problem) {
            _ = try options(query: query)
            found.append([])
        } catch {
            found.append(error.errors.map { "\($0.place)" })
        }
        #expect(found[0].count == found[1].count, "\(members)")
        return found[1]
    }

    @Test("L1: after, at and every, in content and in a query")
    func reads() throws {
        let after = try #require(try options("\"after\":1.5"))
        #expect(after.style == .asap && after.timer == TimerTerms(start: .after(1_500_000_000)))
        #expect(try options(query: [("after", "1.5")]) == after)
        let at = try #require(try options("\"at\":\"1970-01-01T00:00:02.5Z\",\"style\":\"idle\""))
        #expect(at.style == .idle && at.timer == TimerTerms(start: .at(2_500)))
        #expect(try options(query: [("at", "1970-01-01T00:00:02.5Z"), ("style", "idle")]) == at)
        let every = try #require(try options("\"every\":2,\"replaces\":true"))
        let terms = TimerTerms(
            period: 2 * Self.second, lease: 86_400 * Self.second, replaces: true)
        #expect(every.timer == terms && !every.asksForever)
        #expect(try options(query: [("every", "2"), ("replaces", "true")]) == every)
        let forever = try #require(try options("\"every\":2,\"lease\":null"))
        #expect(forever.timer == TimerTerms(period: 2 * Self.second) && forever.asksForever)
        #expect(try options(query: [("every", "2"), ("lease", "null")]) == forever)
        #expect(try options("\"every\":2,\"lease\":60")?.timer?.lease == 60 * Self.second)
    }

    @Test("what is null, or false, is not given")
    func nothing() throws {
        #expect(
            try options(
                "\"after\":null,\"at\":null,\"every\":null,\"replaces\":false,\"onDisconnect\":false"
            )
                == nil)
        #expect(try options(query: [("replaces", "false"), ("onDisconnect", "false")]) == nil)
    }

    @Test("L1: with one of them coalesce, keep and modes need no style")
    func otherOptions() throws {
        let options = try #require(
            try options("\"after\":1,\"coalesce\":\"none\",\"keep\":\"latest\",\"modes\":[\"m\"]"))
        #expect(options.coalescing == .none && options.keepsLatest && options.modes == [bytes("m")])
    }

    @Test(
        "L1 (T299): what is out of range, or does not go together, is refused",
        arguments: [
            [("after", "-1")], [("after", "31622400.001")], [("every", "0.05")],
            [("every", "31622401")], [("after", "1"), ("at", "\"2026-11-21T08:00:00Z\"")],
            [("after", "1"), ("style", "\"now\"")], [("replaces", "true"), ("style", "\"now\"")],
            [("lease", "60")], [("lease", "60"), ("after", "1")],
            [("every", "1"), ("lease", "0")], [("every", "1"), ("lease", "2592000.5")],
            [("at", "\"tomorrow\"")], [("at", "5")], [("replaces", "1")],
            [("onDisconnect", "true")],
        ])
    func refuses(members: [(String, String)]) {
        #expect(faults(members).count == 1)
    }

    @Test("at and within the limits it is taken")
    func border() throws {
        #expect(faults([("after", "0")]) == [] && faults([("after", "31622400")]) == [])
        #expect(faults([("every", "0.1")]) == [] && faults([("every", "31622400")]) == [])
        #expect(faults([("every", "1"), ("lease", "2592000")]) == [])
    }

    @Test("L13: after is a delay in a post, and a position in a look")
    func afterHasTwoSides() throws {
        let delay = TimerTerms(start: .after(7 * Self.second))
        #expect(try options(query: [("after", "7")])?.timer == delay)
        let look = QueryParameter(name: bytes("after"), value: bytes("7"))
        #expect(try reader.mailbox(query: [look]).after == 7)
        let fraction = QueryParameter(name: bytes("after"), value: bytes("7.5"))
        #expect(throws: Problem.self) { try reader.mailbox(query: [fraction]) }
    }

    @Test("L10: onDisconnect is a matter of calls")
    func farewell() throws {
        func call(_ params: String) throws(Problem) -> TimerTerms? {
            let text = bytes(params)
            return try reader.post(params: 0..<text.count, in: text.span).post.options?.timer
        }
        #expect(
            try call("{\"name\":\"bye\",\"onDisconnect\":true}") == TimerTerms(isFarewell: true))
        #expect(
            try call("{\"name\":\"bye\",\"onDisconnect\":true,\"after\":2}")
                == TimerTerms(start: .after(2 * Self.second), isFarewell: true))
        for other in ["\"at\":\"2026-11-21T08:00:00Z\"", "\"every\":1"] {
            #expect(throws: Problem.self) {
                try call("{\"name\":\"bye\",\"onDisconnect\":true,\(other)}")
            }
        }
    }

    @Test(
        "a time has its offset",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01T01:00:00+01:00", 0),
            ("1969-12-31T19:30:00-04:30", 0), ("2026-11-21T08:03:00.000Z", 1_795_248_180_000),
            ("2024-02-29T23:59:59.9991z", 1_709_251_200_000),
            ("0000-01-01T00:00:00Z", -62_167_219_200_000),
            ("2016-12-31t23:59:60Z", 1_483_228_800_000), ("1970-01-01T00:00:00.1Z", 100),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000),
        ])
    func times(text: String, milliseconds: Int64) {
        #expect(TimeText.milliseconds(of: bytes(text).span) == milliseconds)
        var written: [UInt8] = []
        TimeText.append(milliseconds: milliseconds, to: &written)
        #expect(TimeText.milliseconds(of: written.span) == milliseconds)
    }

    @Test(
        "another text is no time",
        arguments: [
            "", "2026-11-21", "2026-11-21T08:00:00", "2026-11-21 08:00:00Z", "2026-02-29T08:00:00Z",
            "2026-13-01T08:00:00Z", "2026-00-01T08:00:00Z", "2026-11-31T08:00:00Z",
            "2026-11-21T24:00:00Z", "2026-11-21T08:60:00Z", "2026-11-21T08:00:61Z",
            "2026-11-21T08:00:00.Z", "2026-11-21T08:00:00+1:00", "2026-11-21T08:00:00+24:00",
            "2026-11-21T08:00:00Z ", "-026-11-21T08:00:00Z",
        ])
    func noTimes(text: String) {
        #expect(TimeText.milliseconds(of: bytes(text).span) == nil)
    }

    @Test("a timer is listed with its time, and with what it has done")
    func shape() {
        func row(_ timer: QueueEntryRow.Timing) -> String {
            let row = QueueEntryRow(
                id: NotificationID(high: 0, low: 0),
                content: Notification.Content(name: bytes("a")), style: .asap, coalescing: .none,
                modes: [bytes("default")], mergedCount: 0, enqueuedAt: 0, timer: timer)
            var output: [UInt8] = []
            Shape.append(queueEntry: row, to: &output)
            let text = String(decoding: output, as: UTF8.self)
            return String(
                text.dropFirst(text.firstRange(of: "00Z\"")?.upperBound.utf16Offset(in: text) ?? 0))
        }
        #expect(
            row(QueueEntryRow.Timing(dueAt: 5, client: nil, repetition: nil))
                == ",\"dueAt\":\"1970-01-01T00:00:00.005Z\"}")
        #expect(
            row(QueueEntryRow.Timing(dueAt: nil, client: 4, repetition: nil))
                == ",\"onDisconnect\":\"c4\"}")
        let repetition = QueueEntryRow.Timing.Repetition(
            period: 1_500_000_000, fired: 2, missed: 3)
        #expect(
            row(QueueEntryRow.Timing(dueAt: nil, client: nil, repetition: repetition))
                == ",\"every\":1.5,\"fired\":2,\"missed\":3}")
    }

    @Test("its answer has the time, and how many it has replaced; its fate has the time")
    func receipt() {
        var receipt = Receipt(id: NotificationID(high: 0, low: 0), sequence: 0)
        receipt.state = .timed(dueAt: 5)
        receipt.dequeued = 2
        var output: [UInt8] = []
        Shape.append(receipt: receipt, to: &output)
        #expect(
            String(decoding: output, as: UTF8.self)
                == "{\"id\":\"00000000000000000000000000\",\"outcome\":\"queued\",\"dueAt\":\"1970-01-01T00:00:00.005Z\",\"dequeued\":2}"
        )
        receipt.state = .timed(dueAt: nil)
        receipt.dequeued = 0
        output = []
        Shape.append(fate: receipt, to: &output)
        #expect(
            String(decoding: output, as: UTF8.self)
                == "{\"id\":\"00000000000000000000000000\",\"state\":\"queued\"}")
    }
}
