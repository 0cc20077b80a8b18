import BelfryLoop
import Testing

@testable import BelfryServer

/// A client that comes and goes, with what must hold for all that it is sent.
private final class Actor {
    let client: String
    let session: String
    var peer: SocketPeer?
    var isSuspended = false
    /// The last number of a frame that was not redelivered, and the same for each selector.
    var lastSequence = 0
    var lastOfSelector: [String: Int] = [:]
    var frameCount = 0

    init(_ peer: SocketPeer) {
        self.peer = peer
        client = peer.client
        session = peer.session
    }

    /// Takes what has arrived; each observer has a selector of its own.
    func read(isResuming: Bool) throws {
        guard let peer else { return }
        var previous = 0
        for message in try peer.takeMessages(where: { $0.has("method") }) {
            guard let selector = message["method"].text, !selector.hasPrefix("belfry.") else {
                continue
            }
            frameCount += 1
            let sequence = try #require(message["params"]["seq"].int)
            // The deliveries of a resume are in order as a whole, repeated or not.
            if isResuming { #expect(sequence >= previous) }
            previous = sequence
            if message["params"]["redelivered"] == .boolean(true) { continue }
            #expect(sequence >= lastSequence)
            #expect(sequence > lastOfSelector[selector] ?? 0)
            lastSequence = sequence
            lastOfSelector[selector] = sequence
            guard let id = message["id"].text else { continue }
            peer.put(#"{"jsonrpc":"2.0","id":"\#(id)","result":null}"#)
        }
    }
}

/// Everything that can be asked for, in an order that follows from a seed.
private struct Mixture {
    let stage: Stage
    var actors: [Actor]
    var tokens: [String] = []
    var leases: [String] = []
    var selectorCount = 0
    private var state: UInt64

    init(_ scene: Scene, seed: UInt64) throws {
        // Time does not pass: no observer is awaited.
        stage = try Stage(scene) { $0.maxWait = .zero }
        state = seed
        actors = [Actor(stage.x), Actor(stage.y)]
        actors.append(Actor(try stage.broker.webSocket(loop: stage.postLoop)))
    }

    /// The next number below a bound (SplitMix64).
    mutating func below(_ bound: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return Int((mixed ^ mixed >> 31) % UInt64(bound))
    }

    mutating func one<Element>(of elements: [Element]) -> Element {
        elements[below(elements.count)]
    }

    mutating func step() throws {
        let actor = one(of: actors)
        var resumed: Actor?
        switch below(20) {
        case 0...2: try observe(actor)
        case 3 where !tokens.isEmpty:
            let token = tokens.remove(at: below(tokens.count))
            #expect(try !stage.remove(.text(token)).isRefused)
        case 4...10: try post()
        case 11: try stage.batch(styled(), styled(), styled())
        case 12: try suspend(actor, below(2) == 0)
        case 13 where actor.peer != nil:
            try actor.read(isResuming: false)
            try actor.peer?.cut()
            actor.peer = nil
        case 14...16:
            resumed = actor
            let last = actor.lastSequence
            try back(actor, after: one(of: [nil, 0, max(0, last - 3), last]))
        case 17 where leases.count < 3: leases.append(try stage.enter(one(of: ["held", "modal"])))
        case 18 where !leases.isEmpty: try stage.leave(leases.remove(at: below(leases.count)))
        case 19: _ = try stage.dequeue(name: one(of: ["a", "b"]), coalesce: "name")
        default: try stage.broker.advance(by: .milliseconds(below(200)))
        }
        for other in actors { try other.read(isResuming: other === resumed) }
        try stage.broker.crank()
    }

    private mutating func observe(_ actor: Actor) throws {
        selectorCount += 1
        let behavior = one(of: ["drop", "coalesce", "hold", "deliverImmediately"])
        let acknowledges = behavior == "hold" && below(3) == 0
        let members = [
            #""name":\#(one(of: ["null", "\"a\"", "\"b\""]))"#,
            #""object":\#(one(of: ["null", "\"o\""]))"#, #""selector":"s\#(selectorCount)""#,
            #""suspensionBehavior":"\#(behavior)","acknowledge":\#(acknowledges)"#,
        ].joined(separator: ",")
        switch stage.door {
        case .http:
            let body = "{\(members),\"session\":\"\(actor.session)\"}"
            let response = try stage.broker.post(
                body, target: "/v1/observers", loop: stage.postLoop)
            // A client without observers goes with its connection.
            if response.status == 201 { tokens.append(response.json["token"].text ?? "") }
        case .webSocket:
            guard let peer = actor.peer else { return }
            tokens.append(try peer.result("addObserver", "{\(members)}")["token"].text ?? "")
        }
    }

    private mutating func post() throws {
        let immediate = below(5) == 0 ? #","immediate":true"# : ""
        let plain = json(
            below(3) == 0 ? "now" : nil, one(of: ["a", "b"]), one(of: [nil, "o"]), more: immediate)
        let account = try stage.post(json: below(3) == 0 ? styled() : plain)
        if account.status == 409 { return }
        #expect(!account.isRefused, "\(account.json)")
        guard let matched = account.json["matched"].int else { return }
        let parts = ["delivered", "held", "coalesced", "dropped"].map { account.json[$0].int ?? 0 }
        #expect(parts.reduce(0, +) == matched)
    }

    /// A post for the queue.
    private mutating func styled() -> String {
        json(
            one(of: ["asap", "idle"]), one(of: ["a", "b"]), one(of: [nil, "o"]),
            more: below(3) == 0 ? #","modes":["held"]"# : "")
    }

    private mutating func suspend(_ actor: Actor, _ isSuspended: Bool) throws {
        switch stage.door {
        case .http:
            let response = try stage.broker.request(
                "PATCH", "/v1/clients/\(actor.client)", #"{"suspended":\#(isSuspended)}"#,
                fields: ["Content-Type: application/json", "Belfry-Session: \(actor.session)"],
                loop: stage.postLoop)
            #expect(response.status == 200 || actor.peer == nil)
        case .webSocket:
            guard let peer = actor.peer else { return }
            try peer.result("setSuspended", #"{"suspended":\#(isSuspended)}"#)
        }
    }

    /// Comes back, also while the earlier connection lives; or begins anew.
    private mutating func back(_ actor: Actor, after: Int?) throws {
        try actor.read(isResuming: false)
        let newcomer = try stage.broker.webSocket(loop: stage.postLoop)
        let more = after.map { #","after":\#($0)"# } ?? ""
        let answer = try newcomer.answer("resume", #"{"session":"\#(actor.session)"\#(more)}"#)
        if answer.has("result") {
            actor.peer = newcomer
        } else {
            // Its last observer was removed while it was away.
            let place = try #require(actors.firstIndex { $0 === actor })
            actors[place] = Actor(newcomer)
        }
    }

    /// Lets all clients have everything.
    mutating func finish() throws {
        while let lease = leases.popLast() { try stage.leave(lease) }
        _ = try stage.dequeue(name: "a", coalesce: "name")
        _ = try stage.dequeue(name: "b", coalesce: "name")
        for actor in actors {
            if actor.peer == nil { try back(actor, after: nil) }
        }
        for actor in actors {
            try suspend(actor, false)
            try actor.read(isResuming: false)
        }
        try stage.broker.crank()
    }
}

@Suite("Mixtures of everything (law 2)")
struct MixtureRuleTests {
    @Test(
        "laws 2 and 3, T117: numbers of each client increase, and nothing is held in the end",
        arguments: Scene.all, 1...4 as ClosedRange<UInt64>)
    func mixture(scene: Scene, seed: UInt64) throws {
        var mixture = try Mixture(scene, seed: seed)
        for _ in 0..<300 { try mixture.step() }
        try mixture.finish()
        let rows = try mixture.stage.observers()
        #expect(rows.allSatisfy { $0["held"] == 0 && $0["state"] == "live" })
        #expect(rows.count == mixture.tokens.count)
        #expect(try mixture.stage.queue().isEmpty)
        #expect(mixture.actors.reduce(0) { $0 + $1.frameCount } > 50)
    }
}
