internal import BelfryJSON

/// A notification as an observer gets it (Protocol.md section 5).
public struct ReceivedNotification: Equatable, Sendable {
    /// The identifier that the broker gave it.
    public let id: String
    /// Its number in the sequence of its center.
    public let sequence: UInt64
    /// The notification name.
    public let name: String
    /// The sender, or `nil` for a notification without one.
    public let object: String?
    /// The `userInfo`, or `nil`.
    public let userInfo: UserInfo?
    /// The time of the dispatch: RFC 3339, UTC, with milliseconds; empty where it is not known.
    public let postedAt: String
    /// The notification whose handling posted this one, if its poster said so.
    public let causedBy: String?
    /// The address whose turn it is, if it is an ask or an action.
    public let target: String?
    /// The selector that is called at the target, for an action of an observer with a target.
    public private(set) var selector: String?
    /// Until when an ask is to be answered: RFC 3339, UTC, with milliseconds.
    public let answerBy: String?
    /// The observer that it is for, where the broker names it: in requests.
    let observer: String?
    /// The id of its request, as JSON, if it is one: it is answered.
    var call: String?
    /// Whether it comes from the replay ring, and may have been delivered before.
    public let isRedelivered: Bool
    /// The whole notification as the broker wrote it.
    ///
    /// An action has its `selector`, also where that was the method of its frame.
    public private(set) var json: [UInt8]
    /// The whole value behind this change, if it is one and there is a value.
    var value: Document?
    /// The position behind it in its event stream, where another stream resumes (`EventStream`).
    public internal(set) var eventID: String?
    /// The gap directly before it, or `nil`.
    public internal(set) var gapBefore: Gap?

    /// Notifications that an observer did not get.
    public struct Gap: Equatable, Sendable {
        /// How many they are, as far as that is known.
        public let lostCount: Int?
        /// Why: the broker's word, or `overflow` when they were not taken in time here.
        public let reason: String

        /// Both gaps as one, with the reason of the first.
        func joined(with later: Gap) -> Gap {
            guard let lostCount, let more = later.lostCount else {
                return Gap(lostCount: nil, reason: reason)
            }
            return Gap(lostCount: lostCount + more, reason: reason)
        }
    }
}

extension ReceivedNotification {
    private enum Key: String, CaseIterable {
        case id
        case sequence = "seq"
        case name, object, userInfo, postedAt, causedBy
        case isRedelivered = "redelivered"
        case target, answerBy, observer, selector
    }

    private static let keys = JSONKeyTable(Key.allCases)

    /// Whether an observer with a target has sent it here.
    var isAction: Bool { target != nil && answerBy == nil }

    /// The key of the owed answer.
    ///
    /// One post may make several actions, and an ask comes again as another request.
    var owedKey: String {
        if isAction, let call { call } else { id }
    }

    /// Reads what a frame with this method carries.
    init(json: [UInt8], method: [UInt8], call: [UInt8]? = nil) throws(ClientError) {
        try self.init(json: json)
        if isAction { name(selector: String(decoding: method, as: UTF8.self)) }
        self.call = call.map { String(decoding: $0, as: UTF8.self) }
    }

    private mutating func name(selector: String) {
        self.selector = selector
        guard let end = json.lastIndex(of: UInt8(ascii: "}")) else { return }
        var member: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &member)
        writer.member("selector", string: selector, into: &member)
        writer.endObject(into: &member)
        json[end...] = member[...]
        json[end] = UInt8(ascii: ",")
    }

    /// Reads a notification; members that are not known are passed over.
    package init(json: [UInt8]) throws(ClientError) {
        var (id, name, object, postedAt): (String?, String?, String?, String?)
        var (causedBy, target, answerBy): (String?, String?, String?)
        var (observer, selector): (String?, String?)
        var sequence: UInt64?
        var userInfo: UserInfo?
        var isRedelivered = false
        do {
            let bytes = json.span
            var reader = JSONReader(depthLimit: JSONObject.depthLimit)
            func text() throws(JSONError) -> String {
                String(decoding: try reader.readString(in: bytes), as: UTF8.self)
            }
            try reader.beginObject(in: bytes)
            while try reader.nextMember(in: bytes) {
                let key = Self.keys.key(named: reader.key)
                if key != nil, try reader.readNullIfPresent(in: bytes) { continue }
                switch key {
                case .id: id = try text()
                case .sequence: sequence = UInt64(exactly: try reader.readInt(in: bytes))
                case .name: name = try text()
                case .object: object = try text()
                case .userInfo:
                    userInfo = UserInfo(validated: Array(json[try reader.skipValue(in: bytes)]))
                case .postedAt: postedAt = try text()
                case .causedBy: causedBy = try text()
                case .isRedelivered: isRedelivered = try reader.readBool(in: bytes)
                case .target: target = try text()
                case .answerBy: answerBy = try text()
                case .observer: observer = try text()
                case .selector: selector = try text()
                case nil: _ = try reader.skipValue(in: bytes)
                }
            }
            try reader.finish(in: bytes)
        } catch {
            throw .notUnderstood
        }
        guard let id, let sequence, let name else { throw .notUnderstood }
        self.id = id
        self.sequence = sequence
        self.name = name
        self.object = object
        self.userInfo = userInfo
        self.postedAt = postedAt ?? ""
        self.causedBy = causedBy
        self.target = target
        self.answerBy = answerBy
        self.observer = observer
        self.selector = selector
        self.isRedelivered = isRedelivered
        self.json = json
    }
}
