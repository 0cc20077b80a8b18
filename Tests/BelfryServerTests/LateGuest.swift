import BelfryHistory

@testable import BelfryServer

/// A client on a broker whose mail is late: it survives its connections, as a program does.
final class LateGuest {
    /// What it called for, and has no answer to yet.
    enum Call {
        case register(HistoryObserver)
        case remove(UInt64)
        case suspend(Bool)
        case resume(newcomer: UInt64, after: UInt64)
        case post
    }

    let client: UInt64
    let session: String
    let epoch: String
    /// Nil while it is away.
    var peer: SocketPeer?
    /// The number of its connection in the history.
    var connection: UInt64
    var calls: [Int: Call] = [:]
    /// The last number that it saw.
    var lastSeen: UInt64 = 0
    var observers: [UInt64] = []
    /// Deliveries that want an answer.
    var owed: [String] = []
    /// It has asked to go on as who it was, and is not answered yet.
    var isResuming = false

    init(_ peer: SocketPeer, connection: UInt64) {
        self.peer = peer
        self.connection = connection
        client = Self.number(peer.client)
        session = peer.session
        epoch = peer.welcome["epoch"].text ?? ""
    }

    /// The number in an identifier such as `c4` or `o17`.
    static func number(_ id: String) -> UInt64 { UInt64(id.dropFirst()) ?? 0 }
}

extension HistoryReceipt {
    init(_ json: Value) {
        func count(_ name: String) -> Int { json[name].int ?? 0 }
        self.init(id: Array((json["id"].text ?? "").utf8), sequence: UInt64(count("seq")))
        matched = count("matched")
        delivered = count("delivered")
        held = count("held")
        coalesced = count("coalesced")
        dropped = count("dropped")
        acknowledged = count("acknowledged")
        refused = count("refused")
        pending = count("pending")
        dequeued = count("dequeued")
    }
}

extension HistoryNotification {
    init(_ json: Value) {
        let content = HistoryContent(
            name: Array((json["name"].text ?? "").utf8),
            object: json["object"].text.map { Array($0.utf8) },
            // Each post has a number of its own, which tells it from all others.
            userInfo: json["userInfo"]["k"].int.map { Array("\($0)".utf8) })
        self.init(
            id: Array((json["id"].text ?? "").utf8), sequence: UInt64(json["seq"].int ?? 0),
            content: content)
    }
}

extension HistoryGap {
    init?(_ json: Value) {
        let reason: Reason
        switch json["reason"].text {
        case "dropped": reason = .dropped
        case "coalesced": reason = .coalesced
        case "overflow": reason = .overflow
        case "expired": reason = .expired
        case "unknown": reason = .unknown
        default: return nil
        }
        self.init(
            observer: LateGuest.number(json["observer"].text ?? ""), reason: reason,
            lost: json["lost"].int, first: UInt64(json["firstSeq"].int ?? 0),
            last: UInt64(json["lastSeq"].int ?? 0))
    }
}
