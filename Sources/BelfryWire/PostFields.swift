import BelfryBytes
internal import BelfryCenter
internal import BelfryJSON

/// The fields of a notification that is posted.
struct PostFields {
    var name: [UInt8]?
    var object: [UInt8]?
    var causedBy: NotificationID?
    /// The range of the userInfo in the text.
    var userInfo: Range<Int>?
    /// Nil for nearly all posts, which have none.
    var options: PostOptionFields?
    var reportsObservers = false
    var waitSeconds: Double?
    var idempotencyKey: [UInt8]?

    /// The longest wait that a poster may ask for, in seconds.
    static let waitLimit = 60.0

    static let nameOrdinal = 0
    private static let names =
        ["name", "object", "userInfo", "causedBy"] + PostOptionFields.Key.allCases.map(\.text)
    private static let optionOrdinal = 4
    private static let reportOrdinal = names.count
    /// The members of a notification over HTTP.
    static let keys = JSONKeyTable(names)
    /// The members of `post` over JSON-RPC; equal members have equal ordinals.
    static let callKeys = JSONKeyTable(names + ["report", "wait", "idempotencyKey"])

    /// Reads or skips the value of one member.
    mutating func read(
        _ ordinal: Int, _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch ordinal {
        case Self.nameOrdinal: name = try fields.name("name", in: bytes)
        case 1: object = try fields.optionalName("object", in: bytes)
        case 2: userInfo = try fields.userInfo("userInfo", in: bytes)
        case 3: causedBy = try fields.optionalNotificationID("causedBy", in: bytes)
        case Self.reportOrdinal: try readReport(&fields, in: bytes)
        case Self.reportOrdinal + 1:
            waitSeconds = try fields.optionalNumber("wait", upTo: Self.waitLimit, in: bytes)
        case Self.reportOrdinal + 2:
            idempotencyKey = try fields.optionalIdempotencyKey("idempotencyKey", in: bytes)
        default:
            guard let key = PostOptionFields.Key(rawValue: ordinal - Self.optionOrdinal) else {
                preconditionFailure("a member has an ordinal of the table")
            }
            var options = options ?? PostOptionFields()
            try options.read(key, &fields, in: bytes)
            self.options = options
        }
    }

    private mutating func readReport(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        guard let report = try fields.optionalString("report", in: bytes) else { return }
        reportsObservers = report.elementsEqual("observers".utf8)
        if !reportsObservers { fields.addFault("report", "must be observers") }
    }

    /// Joins the parts in one buffer.
    static func content(
        name: [UInt8], object: [UInt8]?, userInfo: Range<Int>?, of bytes: Span<UInt8>
    ) -> Notification.Content {
        let objectBytes = object ?? []
        let joined = [UInt8](
            joining: name.span, objectBytes.span, bytes.extracting(userInfo ?? 0..<0))
        return Notification.Content(
            joined: joined, nameByteCount: name.count, objectByteCount: object?.count,
            hasUserInfo: userInfo != nil)
    }
}

extension FieldReader {
    /// Reads the elements of an array, each a notification.
    mutating func readBatch(in bytes: Span<UInt8>) throws(Problem) -> [PostRequest] {
        var posts: [PostRequest] = []
        var itemCount = 0
        try beginArray(in: bytes)
        while try nextElement(in: bytes) {
            item = itemCount
            if itemCount >= limits.batchItemLimit {
                _ = try skip(in: bytes)
            } else if let post = try readNotification(in: bytes) {
                posts.append(post)
            }
            itemCount += 1
        }
        checkItemCount(itemCount)
        return posts
    }

    /// A batch is told its size once, at its root.
    mutating func checkItemCount(_ count: Int) {
        item = nil
        guard count < 1 || count > limits.batchItemLimit else { return }
        faults.add(place(), "must have 1 to \(limits.batchItemLimit) items, not \(count)")
    }

    /// Reads one notification; nil when something is wrong with it.
    mutating func readNotification(in bytes: Span<UInt8>) throws(Problem) -> PostRequest? {
        let fields = try readPost(in: bytes)
        return request(of: fields, in: bytes)
    }

    /// Reads the members of a post.
    ///
    /// - Parameter isCall: whether a client calls, which has a WebSocket.
    mutating func readPost(
        isCall: Bool = false, in bytes: Span<UInt8>
    ) throws(Problem) -> PostFields {
        var post = PostFields()
        let keys = isCall ? PostFields.callKeys : PostFields.keys
        let isObject = try readObject(keys, in: bytes) {
            (fields, ordinal, bytes) throws(Problem) in
            try post.read(ordinal, &fields, in: bytes)
        }
        if isObject, !has(PostFields.nameOrdinal) { addFault("name", "is required") }
        if let name = post.name, TextRule.isReserved(name) {
            faults.addReservedName(place([UInt8]("name".utf8)))
        }
        if let options = post.options {
            if options.timer.isFarewell, !isCall {
                addFault("onDisconnect", TimerFields.farewellDetail)
            }
            options.forEachMisfit { key, detail in addFault(key.text, detail) }
        }
        return post
    }

    func request(of post: PostFields, in bytes: Span<UInt8>) -> PostRequest? {
        guard faults.isEmpty, let name = post.name else { return nil }
        let content = PostFields.content(
            name: name, object: post.object, userInfo: post.userInfo, of: bytes)
        return PostRequest(
            content: content, causedBy: post.causedBy, options: post.options?.options)
    }
}
