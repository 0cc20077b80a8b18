import BelfryCenter
import BelfryJSON

/// One event that is about many things that were made before, in a center of its own each time.
///
/// The cost of the event for a few things, and for ten times as many, shows whether it is a square.
struct Growing: Work {
    private var benches: [CenterBench]
    private var ended: [CenterBench] = []
    private let event: (inout CenterBench) -> Void

    /// Prepares as many centers as there will be events.
    init(
        eventCount: Int = 3, _ prepare: (inout CenterBench) -> Void,
        event: @escaping (inout CenterBench) -> Void
    ) {
        benches = (0..<eventCount).map { _ in
            var bench = CenterBench(limits: Self.limits)
            prepare(&bench)
            return bench
        }
        self.event = event
    }

    mutating func run(_ count: Int) {
        for _ in 0..<count {
            guard var bench = benches.popLast() else { fatalError("more events than centers") }
            event(&bench)
            // The event does not include the end of the center.
            ended.append(bench)
        }
        use(ended.count)
    }

    private static var limits: CenterLimits {
        var limits = CenterLimits()
        limits.timerLimit = 1_000_000
        return limits
    }
}

extension Growing {
    /// A client goes, and its timers with it.
    static func timersEnd(_ count: Int) -> Growing {
        Growing {
            $0.connect()
            for _ in 0..<count { $0.setRepeatingTimer() }
        } event: {
            $0.apply(.removeClient(client: 1, by: .broker))
        }
    }

    /// 100 timers of one batch take the place of those of their name.
    static func timersReplace(_ count: Int) -> Growing {
        Growing {
            for _ in 0..<count { $0.setTimer() }
        } event: { bench in
            let timing = TimerTerms(start: .after(60_000_000_000), replaces: true)
            let options = PostOptions(style: .asap, coalescing: [], timer: timing)
            let posts = (0..<100).map { _ in
                bench.postCount += 1
                return Post(
                    id: bench.lastID, content: CenterBench.content("Reminder", "{}"),
                    options: options)
            }
            bench.apply(.postBatch(posts, PostTerms()))
        }
    }

    /// 20 responders in a row hold an address, and all observers of that are told.
    static func reports(_ count: Int) -> Growing {
        Growing {
            for _ in 0..<count { $0.observe("belfry.responder.changed") }
        } event: {
            $0.connect()
            for _ in 0..<20 { $0.respond(at: "desk", ["go"]) }
            $0.endTurns()
        }
    }

    /// A merge patch of one key changes an object of many.
    static func merge(_ count: Int) -> Growing {
        Growing { bench in
            let members = (0..<count).map { #""m\#($0)":0"# }.joined(separator: ",")
            bench.apply(.setValue(bench.write, bench.document("{\(members)}"), ValueLifetime()))
        } event: {
            $0.apply(.mergeValue($0.write, patch: $0.document(#"{"m7":1}"#)))
        }
    }

    /// A client goes whose asks wait for their answers.
    static func askerLeaves(_ count: Int) -> Growing {
        Growing {
            $0.connect()
            $0.respond(at: "desk", ["go"])
            for _ in 0..<count { $0.ask("desk", "go", by: 1) }
        } event: {
            $0.apply(.removeClient(client: 1, by: .broker))
            $0.endTurns()
        }
    }

    /// A client goes that has been asked much, and each ask looks for another one.
    static func responderLeaves(_ count: Int) -> Growing {
        Growing {
            // Each may have 1,000 open.
            for _ in 0..<(count / 1_000 + 1) { $0.respond(at: "desk", ["go"], ifHeld: .share) }
            for number in 0..<count {
                if number % 1_000 == 0 { $0.connect() }
                $0.ask("desk", "go", by: $0.client)
            }
        } event: {
            $0.apply(.removeClient(client: 1, by: .broker))
            $0.endTurns()
        }
    }

    /// 10 posts whose report has a row for each observer.
    static func reportRows(_ count: Int) -> Growing {
        Growing {
            for _ in 0..<count { $0.observe("ButtonChange") }
        } event: { bench in
            var terms = PostTerms()
            terms.reportsObservers = true
            let posts = (0..<10).map { _ in
                bench.postCount += 1
                return Post(id: bench.lastID, content: CenterBench.content("ButtonChange", "{}"))
            }
            bench.apply(.postBatch(posts, terms))
        }
    }

    /// 100 asks at an address of many holders, of which one implements what is asked.
    static func walk(_ count: Int) -> Growing {
        Growing { bench in
            for number in 0..<count {
                bench.respond(at: "desk", ["go\(number)", "all"], ifHeld: .share)
            }
        } event: { bench in
            for _ in 0..<100 { bench.ask("desk", "go7") }
        }
    }
}

extension CenterBench {
    /// Connects another client, which is the last one from then on.
    mutating func connect() {
        client += 1
        let registration = ClientRegistration(
            id: client, transport: .webSocket,
            connection: ConnectionName(node: 0, number: client),
            sessionHash: SecretHash(high: client, low: 7), principal: Array("anonymous".utf8))
        apply(.connect(registration, observers: [], since: nil))
    }

    /// Sets a timer that ends with the last client.
    mutating func setRepeatingTimer() {
        postCount += 1
        let timing = TimerTerms(period: 3_600_000_000_000, lease: 60_000_000_000)
        let setter = PostTerms.TimerSetter(
            client: client,
            principal: TimerRecord.Principal(name: Array("anonymous".utf8), hasKey: false),
            byteRoom: .max)
        var terms = PostTerms()
        terms.details = PostTerms.Details(scope: .everything, setter: setter)
        let options = PostOptions(style: .asap, coalescing: [], timer: timing)
        let content = CenterBench.content("Reminder", "{}")
        apply(.post(Post(id: lastID, content: content, options: options), terms))
    }

    /// Registers a responder of the last client.
    mutating func respond(
        at address: String, _ selectors: [String], ifHeld: ResponderTerms.IfHeld = .replace
    ) {
        if client == 0 { connect() }
        serial += 1
        var terms = ResponderTerms(implements: selectors.map { Array($0.utf8) })
        terms.ifHeld = ifHeld
        let registration = ObserverRegistration(
            serial: serial, tokenHash: SecretHash(high: serial, low: 9), name: nil,
            object: Array(address.utf8), selector: Array("notify".utf8), role: .responder(terms))
        apply(.addObserver(registration, client: client, since: nil))
    }

    /// Asks an address, over a client's connection or over none.
    mutating func ask(_ address: String, _ selector: String, by asker: UInt64? = nil) {
        postCount += 1
        let content = Notification.Content(
            name: Array(selector.utf8), object: Array(address.utf8), userInfo: nil)
        var terms = AskTerms()
        terms.client = asker
        apply(.ask(Ask(id: lastID, content: content, lifetime: 60_000_000_000), terms))
    }

    /// Ends turns until nothing is left for another one.
    mutating func endTurns() {
        while center.needs.turnEnd { apply(.endTurn(workLimit: 100_000)) }
    }

    /// A write of the value of one object.
    var write: ValueWrite {
        ValueWrite(id: lastID, object: Array("settings".utf8), path: .whole)
    }

    func document(_ text: String) -> Document {
        let bytes = Array(text.utf8)
        guard let document = try? Document.parsePatch(bytes.span) else { fatalError(text) }
        return document
    }
}
