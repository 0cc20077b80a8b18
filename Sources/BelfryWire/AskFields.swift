internal import BelfryCenter
internal import BelfryJSON

/// The fields of an ask as they come, in JSON or in a query; nil for absent ones.
struct AskFields {
    var causedBy: NotificationID?
    var fallback: [UInt8]?
    var isOnce = false
    var timeToLive: Int64?
    var options = AskOptions()

    /// The members that are in a query, too; over HTTP address and selector are in the path.
    enum Option: String, CaseIterable {
        case fallback = "default"
        case once, ttl, causedBy, present, ifNobody
    }

    /// The members over JSON-RPC.
    enum Key: Equatable {
        case own(Own)
        case option(Option)
    }

    /// The members that are not in a query.
    enum Own: String, CaseIterable {
        case object, selector, userInfo, wait, idempotencyKey
    }

    static let parameters = JSONKeyTable(Option.allCases)

    /// The members of a call; a default of null is one.
    static let table = FieldTable(
        Own.allCases.map { (name: $0.rawValue, key: Key.own($0)) }
            + Option.allCases.map { (name: $0.rawValue, key: .option($0)) },
        required: [.own(.object), .own(.selector)], takingNull: [.option(.fallback)])

    /// Reads or skips the value of a member or a parameter.
    mutating func read(
        _ option: Option, from source: inout some FieldSource, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch option {
        case .fallback: fallback = try source.fallback(in: bytes)
        case .once: isOnce = try source.boolean(in: bytes) ?? false
        case .ttl:
            timeToLive = try source.seconds(.init(above: 0, through: 2_592_000), in: bytes)
        case .causedBy: causedBy = try source.notificationID(in: bytes)
        case .present: options.present = try source.present(in: bytes)
        case .ifNobody:
            let word: IfNobody? = try source.word(in: bytes)
            options.waitsForAnybody = word == .wait
        }
    }

    /// The fate of an ask for which no responder is available.
    private enum IfNobody: String, OptionWord {
        case refuse, wait

        var text: String { rawValue }
        static let detail = "must be refuse or wait"
    }

    static let fallbackName = "A default"
}

extension FieldReader {
    /// Reads the members of an ask over JSON-RPC.
    mutating func readAsk(in bytes: Span<UInt8>) throws(Problem) -> AskRequest? {
        var ask = AskFields()
        var (object, selector): ([UInt8]?, [UInt8]?)
        var userInfo: Range<Int>?
        var waitSeconds: Double?
        var idempotencyKey: [UInt8]?
        guard try beginObject(in: bytes) else { return nil }
        while let key = try nextKey(of: AskFields.table, in: bytes) {
            switch key {
            case .own(.object): object = try name(in: bytes)
            case .own(.selector): selector = try self.selector(in: bytes)
            case .own(.userInfo): userInfo = try self.userInfo(in: bytes)
            case .own(.wait): waitSeconds = try number(upTo: PostFields.waitLimit, in: bytes)
            case .own(.idempotencyKey): idempotencyKey = try self.idempotencyKey(in: bytes)
            case .option(let option): try ask.read(option, from: &self, in: bytes)
            }
        }
        if ask.options.waitsForAnybody, ask.timeToLive == nil {
            addFault(AskFields.Option.ifNobody, "requires ttl")
        }
        guard faults.isEmpty, let object, let selector else { return nil }
        let content = PostFields.content(
            name: selector, object: object, userInfo: userInfo, of: bytes)
        return AskRequest(
            content: content, causedBy: ask.causedBy, fallback: ask.fallback, isOnce: ask.isOnce,
            timeToLive: ask.timeToLive, waitSeconds: waitSeconds, idempotencyKey: idempotencyKey,
            options: ask.options)
    }

    private enum WithdrawalKey: String, CaseIterable { case id }
    private static let withdrawal = FieldTable(WithdrawalKey.allCases, required: [.id])

    /// Reads the ask that is to be withdrawn.
    mutating func readWithdrawal(in bytes: Span<UInt8>) throws(Problem) -> NotificationID? {
        var id: NotificationID?
        guard try beginObject(in: bytes) else { return nil }
        while let key = try nextKey(of: Self.withdrawal, in: bytes) {
            switch key {
            case .id: id = try notificationID(in: bytes)
            }
        }
        return id
    }
}
