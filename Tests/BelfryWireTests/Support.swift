import BelfryCenter
import BelfryWire

func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// What an encoder appends, as text.
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
        _ body: String, name: String = "a", object: String? = nil, causedBy: String? = nil
    ) throws(Problem) -> PostRequest {
        let body = bytes(body)
        return try channelPost(
            name: bytes(name), object: object.map(bytes), causedBy: causedBy.map(bytes),
            body: body.span)
    }

    func observer(_ body: String, allowsSession: Bool = true) throws(Problem) -> ObserverRequest {
        let body = bytes(body)
        return try observer(in: body.span, allowsSession: allowsSession)
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
        let time = CommandTime(wallMilliseconds: Self.time, monotonicNanoseconds: 0)
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
        apply(.post(Post(id: Self.id, content: content, causedBy: causedBy)))
        return effects.notifications[0]
    }

    var row: ObserverRow? { center.observer(17) }
}
