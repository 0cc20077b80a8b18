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
    private static let keys = JSONKeyTable([
        "id", "seq", "name", "object", "userInfo", "postedAt", "causedBy", "redelivered", "target",
        "answerBy", "observer", "selector",
    ])

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
        var text = [String?](repeating: nil, count: 12)
        var sequence: UInt64?
        var userInfo: UserInfo?
        var isRedelivered = false
        do {
            var reader = JSONReader(depthLimit: JSONObject.depthLimit)
            try reader.beginObject(in: json.span)
            while try reader.nextMember(in: json.span) {
                let ordinal = Self.keys.ordinal(of: reader.key)
                switch ordinal {
                case .some where try reader.readNullIfPresent(in: json.span): break
                case 0?, 2?, 3?, 5?, 6?, 8?, 9?, 10?, 11?:
                    let value = try reader.readString(in: json.span)
                    if let ordinal { text[ordinal] = String(decoding: value, as: UTF8.self) }
                case 1?: sequence = UInt64(exactly: try reader.readInt(in: json.span))
                case 4?:
                    let range = try reader.skipValue(in: json.span)
                    userInfo = UserInfo(validated: Array(json[range]))
                case 7?: isRedelivered = try reader.readBool(in: json.span)
                default: _ = try reader.skipValue(in: json.span)
                }
            }
            try reader.finish(in: json.span)
        } catch {
            throw .notUnderstood
        }
        guard let id = text[0], let sequence, let name = text[2] else { throw .notUnderstood }
        self.id = id
        self.sequence = sequence
        self.name = name
        self.object = text[3]
        self.userInfo = userInfo
        self.postedAt = text[5] ?? ""
        self.causedBy = text[6]
        self.target = text[8]
        self.answerBy = text[9]
        self.observer = text[10]
        self.selector = text[11]
        self.isRedelivered = isRedelivered
        self.json = json
    }
}
