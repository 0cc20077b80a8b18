import BelfryClient

/// Options of a step, in the words of the broker, as this library calls them.
struct GivenOptions {
    private let members: JSONObject?

    init(_ step: JSONObject) {
        members = step.raw("options").flatMap(JSONObject.init)
    }

    func text(_ name: String) -> String? { members?.string(name) }
    func raw(_ name: String) -> [UInt8]? { members?.raw(name) }
    func duration(_ name: String) -> Duration? { members?.seconds(name) }
    func isSet(_ name: String) -> Bool { members?.raw(name) == Array("true".utf8) }

    /// Those of a center.
    var center: ClientOptions {
        var options = ClientOptions()
        options.resumes = isSet("resume")
        options.requestTimeout = duration("timeout") ?? .seconds(15)
        return options
    }

    /// The options of an observer, which outlives its connection if the session is resumed.
    func observer(resumes: Bool) -> ObserverOptions {
        var options = ObserverOptions()
        options.lifetime = resumes ? .token : .connection
        options.lease = duration("lease").map { .limited($0) }
        options.suspensionBehavior = text("suspensionBehavior").flatMap(SuspensionBehavior.init)
        options.acknowledges = isSet("acknowledge")
        options.holdLimit = members?.integer("holdLimit")
        options.minInterval = duration("minInterval")
        options.timeout = duration("timeout")
        // A case has one connection.
        options.ownsConnection = false
        return options
    }

    /// Where an observer begins.
    var beginning: Beginning? {
        if let number = members?.integer("since") { return .after(UInt64(clamping: number)) }
        if let place = text("since") { return place == "oldest" ? .oldest : .from(place) }
        if let count = members?.integer("last") { return .last(count) }
        return members?.integer("lastEach").map { .lastEach($0) }
    }

    /// The filter of an observer, some of which is beside the options.
    func filter(name: String?, object: String?) throws(ClientError) -> NotificationFilter {
        var filter = NotificationFilter()
        let names = members?.strings("names") ?? []
        if let name { filter.names = .exactly(name) }
        if !names.isEmpty { filter.names = .oneOf(names) }
        if let prefix = text("namePrefix") { filter.names = .prefix(prefix) }
        if let object { filter.objects = .exactly(object) }
        if let prefix = text("objectPrefix") { filter.objects = .prefix(prefix) }
        if let json = raw("where") {
            filter.condition = try .init(json: String(decoding: json, as: UTF8.self))
        }
        return filter
    }

    /// Those of a post.
    var post: PostOptions {
        var options = PostOptions()
        options.style = text("style").flatMap(PostingStyle.init)
        let coalesce = members?.strings("coalesce") ?? []
        if !coalesce.isEmpty {
            options.coalescing = []
            if coalesce.contains("name") { options.coalescing?.insert(.onName) }
            if coalesce.contains("sender") { options.coalescing?.insert(.onSender) }
        }
        options.keep = text("keep").flatMap(PostOptions.Keep.init)
        options.modes = members?.strings("modes") ?? []
        options.maxDelay = duration("maxDelay")
        options.isImmediate = isSet("immediate")
        options.timeToLive = duration("ttl")
        options.after = duration("after")
        options.at = text("at")
        options.every = duration("every")
        options.lease = duration("lease").map { .limited($0) }
        options.replaces = isSet("replaces")
        options.onDisconnect = isSet("onDisconnect")
        options.causedBy = text("causedBy")
        options.wait = duration("wait")
        options.reportsObservers = text("report") == "observers"
        options.idempotencyKey = text("idempotencyKey")
        options.timeout = duration("timeout")
        return options
    }

    /// Those of a responder.
    func responder(_ selectors: [String], resumes: Bool) -> ResponderOptions {
        var options = ResponderOptions(selectors)
        options.next = text("next")
        options.ifHeld = text("ifHeld").flatMap(ResponderOptions.IfHeld.init)
        options.concurrency = members?.integer("concurrency")
        options.terms = observer(resumes: resumes)
        return options
    }
}
