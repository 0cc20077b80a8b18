@testable import BelfryCenter
import BelfryWire

func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// The output of an encoder, as text.
func written(_ append: (inout [UInt8]) -> Void) -> String {
    var output: [UInt8] = []
    append(&output)
    return text(output)
}

/// The problem that some work throws.
func problem<Value>(of work: () throws(Problem) -> Value) -> Problem? {
    do throws(Problem) {
        _ = try work()
        return nil
    } catch {
        return error
    }
}

extension Problem {
    /// The faults as `#/name is required`.
    var faultTexts: [String] {
        errors.map { error in
            switch error.place {
            case .pointer(let pointer): "\(pointer) \(error.detail)"
            case .parameter(let name): "?\(name) \(error.detail)"
            case .header(let name): "\(name): \(error.detail)"
            }
        }
    }
}

extension RequestReader {
    func notifications(_ body: String) throws(Problem) -> (posts: [PostRequest], isBatch: Bool) {
        let body = bytes(body)
        return try notifications(in: body.span)
    }

    func lines(_ body: String) throws(Problem) -> [PostRequest] {
        let body = bytes(body)
        return try notificationLines(in: body.span)
    }

    func channelPost(
        _ body: String, name: String = "a", object: String? = nil, causedBy: String? = nil,
        options: [(String, String)] = []
    ) throws(Problem) -> PostRequest {
        let body = bytes(body)
        return try channelPost(
            name: bytes(name), object: object.map(bytes), causedBy: causedBy.map(bytes),
            options: query(options), body: body.span)
    }

    func observer(_ body: String, allowsSession: Bool = true) throws(Problem) -> ObserverRequest {
        let body = bytes(body)
        return try observer(in: body.span, allowsSession: allowsSession)
    }
}

/// The parameters of a query.
func query(_ pairs: [(String, String)]) -> [QueryParameter] {
    pairs.map { QueryParameter(name: bytes($0.0), value: bytes($0.1)) }
}

/// The text of a whole message around some params, and their range in it.
struct CallText {
    let bytes: [UInt8]
    let params: Range<Int>

    init(_ params: String) {
        let head = [UInt8]("{\"params\": ".utf8)
        bytes = head + [UInt8](params.utf8) + [UInt8](" ,\"id\":1}".utf8)
        self.params = head.count..<head.count + params.utf8.count
    }
}

extension Notification.Content {
    var nameText: String { text(copy(of: name)) }
    var objectText: String? { if let object { text(copy(of: object)) } else { nil } }
    var userInfoText: String? { if let userInfo { text(copy(of: userInfo)) } else { nil } }
}

private func copy(of span: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    for index in span.indices { bytes.append(span[index]) }
    return bytes
}

/// A center with one client, cranked by hand.
struct Bench {
    private(set) var center: NotificationCenter
    private(set) var effects = Effects()
    /// 2026-11-21T08:00:00.000Z, when everything happens.
    static let time: Int64 = 1_795_248_000_000
    var now = Self.time
    static let id = NotificationID(high: 0x0123_4567_89AB_CDEF, low: 0x0123_4567_89AB_CDEF)
    static let idText = "014D2PF2DBSQQG28T5CY4TQKFF"
    private static let hash = SecretHash(high: 1, low: 2)

    init(limits: CenterLimits = CenterLimits(), transport: Transport = .webSocket) {
        center = NotificationCenter(
            name: bytes("default"), epoch: bytes("k3"), limits: limits, seed: HashSeed(1, 2))
        let client = ClientRegistration(
            id: 4, transport: transport, connection: ConnectionName(node: 0, number: 9),
            sessionHash: Self.hash, principal: bytes("anonymous"))
        apply(.connect(client, observers: [], since: nil))
    }

    mutating func apply(_ action: Command.Action) {
        let index = center.appliedIndex + 1
        let time = CommandTime(wallMilliseconds: now, monotonicNanoseconds: 0)
        let command = Command(
            id: CommandID(node: 0, incarnation: 0, counter: index), time: time, action: action)
        center.apply(command, at: index, into: &effects)
    }

    mutating func observe(
        _ serial: UInt64, name: String?, object: String? = nil, selector: String = "input:",
        since: UInt64? = nil
    ) {
        let registration = ObserverRegistration(
            serial: serial, tokenHash: Self.hash, name: name.map(bytes),
            object: object.map(bytes), selector: bytes(selector))
        apply(.addObserver(registration, client: 4, since: since))
    }

    /// Posts one notification and returns it.
    @discardableResult
    mutating func post(
        _ name: String, object: String? = nil, userInfo: String? = nil,
        causedBy: NotificationID? = nil
    ) -> Notification {
        let content = Notification.Content(
            name: bytes(name), object: object.map(bytes), userInfo: userInfo.map(bytes))
        apply(.post(Post(id: Self.id, content: content, causedBy: causedBy), PostTerms()))
        return effects.notifications[0]
    }

    var row: ObserverRow? { center.observer(17) }
}

extension ObserverRow {
    /// An observer of `a` whose client is not live.
    static func suspended(_ serial: UInt64 = 17, terms: ObserverTerms = ObserverTerms()) -> Self {
        ObserverRow(
            serial: serial, client: 4, transport: .webSocket, name: bytes("a"), object: nil,
            selector: bytes("in:"), terms: terms, since: 3, createdAt: Bench.time, state: .slow,
            stateSince: Bench.time + 1, principal: bytes("p"),
            tally: ObserverTally(delivered: 4, coalesced: 6, dropped: 7), held: 5,
            tokenHash: SecretHash(high: 1, low: 2))
    }
}

extension ClientRow {
    /// A client that is not live.
    static let suspended = ClientRow(
        id: 4, transport: .mailbox, connection: ConnectionName(node: 0, number: 9),
        state: .disconnected, stateSince: Bench.time + 1, principal: bytes("p"), observerCount: 2,
        held: 5, connectedAt: Bench.time, sessionHash: SecretHash(high: 1, low: 2))

    /// It, as JSON, with 77 bytes that wait.
    static let suspendedText =
        #"{"id":"c4","transport":"mailbox","state":"disconnected","#
        + #""stateSince":"2026-11-21T08:00:00.001Z","principal":"p","observers":2,"held":5,"#
        + #""unsentBytes":77,"connectedAt":"2026-11-21T08:00:00.000Z"}"#
}
