import BelfryCenter
import BelfryHistory
import BelfryLoop
import Testing

@testable import BelfryServer

/// A broker with two loops whose mail comes late, and the history of what its clients see.
///
/// The center lives on the first loop. Turns of both loops, mail between them, bytes of clients and the ends
/// of connections come in an order that the dice choose; nothing else does. A witness observes everything.
final class LateStage {
    let broker: Broker
    var dice: Dice
    var history = History(isSynchronous: false)
    var guests: [LateGuest] = []
    /// Mail that is on its way to each loop.
    private var mail: [[LoopMessage]] = [[], []]
    private let witness: SocketPeer
    private let posters: [HTTPPeer]
    private var lastConnection: UInt64 = 0
    private var lastCall = 0
    private var lastPost = 0
    /// Posts by their numbers, and the observers by their selectors.
    private var posts: [Int: HistoryPost] = [:]
    private var observers: [String: UInt64] = [:]
    private var seen: Set<UInt64> = []

    init(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        let ringLimit = dice.oneIn(2) ? 1_000 : dice.number(in: 1...20)
        let isNarrow = dice.oneIn(2)
        let flushLimit = dice.oneIn(2) ? 256 << 10 : dice.number(in: 1...1_000)
        let broker = try Broker(loopCount: 2) { configuration in
            configuration.centerLimits.replayCountLimit = ringLimit
            configuration.centerLimits.flushByteLimit = flushLimit
            if isNarrow {
                configuration.highWaterByteCount = 1_024
                configuration.lowWaterByteCount = 256
            }
        }
        self.broker = broker
        self.dice = dice
        witness = try broker.webSocket()
        try witness.observe(nil)
        posters = try (0..<2).map { try broker.http(loop: $0) }
    }

    // MARK: Steps

    /// Does one thing.
    func step() throws {
        switch dice.below(20) {
        case 0: if guests.count < 4 { try connect() }
        case 1: try away().map(comeBack)
        case 2: if dice.oneIn(3) { try present().map(cut) }
        case 3: present().map(observe)
        case 4: if dice.oneIn(2) { present().map(remove) }
        case 5: if dice.oneIn(2) { present().map(suspend) }
        case 6: present().map(narrow)
        case 7: present().map(acknowledge)
        case 8...11: post()
        case 12, 13: try turn(0)
        case 14, 15: try turn(1)
        case 16: deliver(to: 0)
        case 17: deliver(to: 1)
        case 18: try present().map(read)
        default:
            for node in broker.nodes { node.kernel.advance(by: .milliseconds(dice.below(20))) }
        }
        try look()
    }

    /// The end: everybody comes back and reads all.
    func finish() throws {
        for _ in 0..<4 {
            try settle()
            for guest in guests {
                if guest.peer == nil { try comeBack(guest) }
                guest.peer?.peer.writeCapacity = .max
                call(guest, "setSuspended", #"{"suspended":false}"#, .suspend(false))
                while !guest.owed.isEmpty { acknowledge(guest) }
            }
        }
        try settle()
        let rows = try broker.get("/v1/observers?limit=1000").json["observers"].elements
        history.note(
            .listed(
                rows.map { row in
                    HistoryRow(
                        serial: LateGuest.number(row["id"].text ?? ""),
                        heldCount: row["held"].int ?? 0)
                }.filter { $0.serial != 1 }))
    }

    private func present() -> LateGuest? {
        dice.pick(guests.filter { $0.peer != nil && !$0.isResuming })
    }

    private func away() -> LateGuest? { dice.pick(guests.filter { $0.peer == nil }) }

    // MARK: Loops

    private func turn(_ loop: Int) throws {
        try broker.nodes[loop].turn()
        takeMail()
    }

    /// Whatever loops tell each other is on its way from now on.
    private func takeMail() {
        for loop in mail.indices { broker.shared.mailboxes[loop].drain(into: &mail[loop]) }
    }

    /// Some of the mail arrives, in its order.
    private func deliver(to loop: Int) {
        let count = mail[loop].isEmpty ? 0 : dice.number(in: 1...mail[loop].count)
        for message in mail[loop].prefix(count) {
            #expect(broker.shared.mailboxes[loop].post(message))
        }
        mail[loop].removeFirst(count)
    }

    /// All mail arrives, and nothing is left to do.
    private func settle() throws {
        repeat {
            for loop in mail.indices {
                for message in mail[loop] {
                    #expect(broker.shared.mailboxes[loop].post(message))
                }
                mail[loop] = []
            }
            try broker.crank()
            for guest in guests where guest.peer != nil { try read(guest) }
            try broker.crank()
            takeMail()
        } while mail.contains { !$0.isEmpty }
        try look()
    }

    // MARK: Connections

    private func open() throws -> SocketPeer {
        try settle()
        lastConnection += 1
        let peer = try broker.webSocket(loop: dice.below(2))
        history.note(
            .connected(
                client: LateGuest.number(peer.client), connection: lastConnection,
                isMailbox: false))
        return peer
    }

    private func connect() throws {
        let peer = try open()
        guests.append(LateGuest(peer, connection: lastConnection))
    }

    /// The line breaks; what was written and not read is lost.
    private func cut(_ guest: LateGuest) throws {
        // What it registered and was not answered nobody could tell apart.
        if !guest.calls.isEmpty { try settle() }
        if dice.oneIn(2) { try read(guest) }
        guard let peer = guest.peer else { return }
        if dice.oneIn(2) { peer.peer.reset() } else { peer.peer.close() }
        history.note(.disconnected(client: guest.client, connection: guest.connection))
        guest.peer = nil
        guest.calls = [:]
        guest.owed = []
        // Without an observer it ends with its connection.
        if guest.observers.isEmpty { guests.removeAll { $0 === guest } }
    }

    private func comeBack(_ guest: LateGuest) throws {
        let peer = try open()
        guest.peer = peer
        guest.connection = lastConnection
        guest.isResuming = true
        history.note(.doubtful(client: guest.client))
        // Of what it saw last, the copy of another observer of it may be lost: it asks for that once more.
        let after = max(guest.lastSeen, 1) - 1
        call(
            guest, "resume",
            #"{"session":"\#(guest.session)","after":\#(after),"epoch":"\#(guest.epoch)"}"#,
            .resume(newcomer: LateGuest.number(peer.client), after: after))
    }

    /// Its socket takes so many bytes more, or all.
    private func narrow(_ guest: LateGuest) {
        guest.peer?.peer.writeCapacity = dice.oneIn(2) ? .max : dice.below(600)
    }

    // MARK: Calls

    private func call(
        _ guest: LateGuest, _ method: String, _ params: String, _ call: LateGuest.Call
    ) {
        lastCall += 1
        guest.calls[lastCall] = call
        guest.peer?.put(
            #"{"jsonrpc":"2.0","id":\#(lastCall),"method":"\#(method)","params":\#(params)}"#)
    }

    private func observe(_ guest: LateGuest) {
        guard guest.observers.count < 3 else { return }
        let behaviors: [(String, HistoryObserver.Behavior)] = [
            ("drop", .drop), ("coalesce", .coalesce), ("hold", .hold),
            ("deliverImmediately", .deliverImmediately),
        ]
        let behavior = behaviors[dice.below(4)]
        let name = dice.pick(["a", "a", "b", nil]).flatMap { $0 } ?? "a"
        let object = dice.pick(["o", nil, nil]).flatMap { $0 }
        var observer = HistoryObserver(
            serial: 0, client: guest.client, name: Array(name.utf8),
            object: object.map { Array($0.utf8) }, selector: Array("s\(lastCall)".utf8),
            behavior: behavior.1, since: 0)
        observer.holdLimit = dice.oneIn(2) ? dice.number(in: 1...5) : 1_000
        var members = [
            #""name":"\#(name)","selector":"s\#(lastCall)","holdLimit":\#(observer.holdLimit)"#,
            #""suspensionBehavior":"\#(behavior.0)""#,
        ]
        if let object { members.append(#""object":"\#(object)""#) }
        if behavior.1 == .hold, dice.oneIn(2) {
            observer.acknowledges = true
            members.append(#""acknowledge":true"#)
        } else if dice.oneIn(6) {
            observer.replayedAbove = UInt64(dice.below(Int(guest.lastSeen) + 1))
            members.append(#""since":\#(observer.replayedAbove ?? 0)"#)
        }
        call(guest, "addObserver", "{\(members.joined(separator: ","))}", .register(observer))
    }

    private func remove(_ guest: LateGuest) {
        guard let serial = dice.pick(guest.observers) else { return }
        guest.observers.removeAll { $0 == serial }
        history.note(.leaving(observer: serial))
        call(guest, "removeObserver", #"{"observer":"o\#(serial)"}"#, .remove(serial))
    }

    private func suspend(_ guest: LateGuest) {
        let isSuspended = dice.oneIn(2)
        history.note(.doubtful(client: guest.client))
        call(guest, "setSuspended", #"{"suspended":\#(isSuspended)}"#, .suspend(isSuspended))
    }

    private func acknowledge(_ guest: LateGuest) {
        guard !guest.owed.isEmpty else { return }
        let id = guest.owed.remove(at: dice.below(guest.owed.count))
        guest.peer?.put(#"{"jsonrpc":"2.0","id":"\#(id)","result":null}"#)
    }

    /// Somebody posts: over HTTP on one of the loops, or a client.
    private func post() {
        lastPost += 1
        let name = dice.oneIn(3) ? "b" : "a"
        let object = dice.oneIn(2) ? "o" : nil
        var post = HistoryPost(
            id: [],
            content: HistoryContent(
                name: Array(name.utf8), object: object.map { Array($0.utf8) },
                userInfo: Array("\(lastPost)".utf8)))
        post.isImmediate = dice.oneIn(8)
        posts[lastPost] = post
        var members = [#""name":"\#(name)","userInfo":{"k":\#(lastPost)}"#]
        if let object { members.append(#""object":"\#(object)""#) }
        if post.isImmediate { members.append(#""immediate":true"#) }
        let content = members.joined(separator: ",")
        if dice.oneIn(2), let guest = present() {
            return call(guest, "post", #"{\#(content),"wait":0}"#, .post)
        }
        let fields = ["Content-Type: application/json", "Prefer: respond-async"]
        let request = HTTPPeer.text("POST", "/v1/notifications", "{\(content)}", fields: fields)
        posters[dice.below(2)].peer.send(request.utf8)
    }

    // MARK: What is seen

    /// What the witness has got was dispatched; then come the answers that posters have got.
    private func look() throws {
        for json in try witness.takeNotifications() {
            let notification = HistoryNotification(json)
            if let number = json["userInfo"]["k"].int, var post = posts[number],
                seen.insert(notification.sequence).inserted
            {
                post.id = notification.id
                history.note(.posted(post))
            }
            history.note(.dispatched(notification))
        }
        for poster in posters {
            while let response = try poster.read() {
                try #require(response.status == 200 || response.status == 202, "\(response.text)")
                history.note(.answered(HistoryReceipt(response.json), isFinal: true))
            }
        }
    }

    /// A client reads what has arrived.
    private func read(_ guest: LateGuest) throws {
        try look()
        for message in try guest.peer?.takeMessages() ?? [] { try take(message, guest) }
    }

    private func take(_ message: Value, _ guest: LateGuest) throws {
        guard let method = message["method"].text else { return try takeAnswer(message, guest) }
        let params = message["params"]
        if method == "belfry.gap" {
            return history.note(.told(try #require(HistoryGap(params))))
        }
        try #require(!method.hasPrefix("belfry."), "\(message)")
        let notification = HistoryNotification(params)
        guest.lastSeen = max(guest.lastSeen, notification.sequence)
        if let id = message["id"].text { guest.owed.append(id) }
        history.note(
            .wrote(
                HistoryFrame(
                    connection: guest.connection,
                    observer: try #require(observers[method], "\(method)"),
                    selector: Array(method.utf8), notification: notification,
                    isRedelivered: params["redelivered"] == true)))
    }

    private func takeAnswer(_ message: Value, _ guest: LateGuest) throws {
        let result = message["result"]
        try #require(message.has("result"), "\(message)")
        guard let call = guest.calls.removeValue(forKey: message["id"].int ?? 0) else { return }
        switch call {
        case .register(var observer):
            observer.serial = LateGuest.number(result["id"].text ?? "")
            observer.since = UInt64(result["since"].int ?? 0)
            observers[String(decoding: observer.selector, as: UTF8.self)] = observer.serial
            guest.observers.append(observer.serial)
            history.noteLate(observer)
        case .remove(let serial): history.note(.gone(observer: serial))
        case .suspend(let isSuspended):
            history.note(.suspended(client: guest.client, isSuspended))
        case .resume(let newcomer, let after):
            guest.isResuming = false
            history.note(
                .resumed(
                    client: guest.client, newcomer: newcomer, connection: guest.connection,
                    after: after))
        case .post: history.note(.answered(HistoryReceipt(result), isFinal: true))
        }
    }
}
