import BelfryBytes
internal import BelfryCenter

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

    /// The members of a post: some of its own, and the options.
    enum Key: Equatable {
        case own(Own)
        case option(PostOptionFields.Key)
    }

    /// The members besides the options.
    enum Own: String {
        case name, object, userInfo, causedBy, report, wait, idempotencyKey
    }

    /// The members of a notification over HTTP.
    static let table = table(of: [.name, .object, .userInfo, .causedBy])
    /// The members of `post` over JSON-RPC.
    static let callTable = table(
        of: [.name, .object, .userInfo, .causedBy, .report, .wait, .idempotencyKey])

    private static func table(of own: [Own]) -> FieldTable<Key> {
        FieldTable(
            own.map { (name: $0.rawValue, key: .own($0)) }
                + PostOptionFields.Key.allCases.map { (name: $0.rawValue, key: .option($0)) },
            required: [.own(.name)], takingNull: [.option(.lease)])
    }

    /// Reads or skips the value of one member.
    mutating func read(
        _ key: Key, _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch key {
        case .own(.name): name = try fields.name(in: bytes)
        case .own(.object): object = try fields.name(in: bytes)
        case .own(.userInfo): userInfo = try fields.userInfo(in: bytes)
        case .own(.causedBy): causedBy = try fields.notificationID(in: bytes)
        case .own(.report): try readReport(&fields, in: bytes)
        case .own(.wait): waitSeconds = try fields.number(upTo: Self.waitLimit, in: bytes)
        case .own(.idempotencyKey): idempotencyKey = try fields.idempotencyKey(in: bytes)
        case .option(let key):
            var read = options ?? PostOptionFields()
            try read.read(key, from: &fields, in: bytes)
            options = read
        }
    }

    private mutating func readReport(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        guard let report = try fields.string(in: bytes) else { return }
        reportsObservers = report.elementsEqual("observers".utf8)
        if !reportsObservers { fields.addFault("must be observers") }
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
        guard try beginObject(in: bytes) else { return post }
        let table = isCall ? PostFields.callTable : PostFields.table
        while let key = try nextKey(of: table, in: bytes) {
            try post.read(key, &self, in: bytes)
        }
        if let name = post.name, TextRule.isReserved(name) {
            faults.addReservedName(place([UInt8]("name".utf8)))
        }
        if let options = post.options {
            if options.timer.isFarewell, !isCall {
                addFault(PostOptionFields.Key.onDisconnect, TimerFields.farewellDetail)
            }
            options.forEachMisfit { key, detail in addFault(key, detail) }
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
