import BelfryCenter
import BelfryHTTP
import BelfryWire

// Event streams: Server-Sent Events for a client with observers of its connection's lifetime.

extension Exchange {
    /// The most observers of one stream.
    static let streamObserverLimit = 100

    /// Reads the names and objects that a stream observes: each name with each object.
    mutating func openEvents(
        _ query: inout Query, _ reader: RequestReader
    ) throws(Problem) -> CenterRequest {
        if let token = query.take("token") { return try openStream(of: token, &query) }
        let names = Self.unique(query.takeAll("name"))
        let objects = Self.unique(query.takeAll("object"))
        let keyPaths = Self.unique(query.takeAll("keyPath"))
        if !keyPaths.isEmpty {
            return try openEvents(of: objects, keyPaths, names, &query, reader)
        }
        let filter = try reader.filter(
            query: ["namePrefix", "objectPrefix", "where"].compactMap { parameter in
                query.take(parameter).map {
                    QueryParameter(name: Array(parameter.utf8), value: $0)
                }
            })
        let start = try StreamBeginning(
            query: ["since", "last", "lastEach"].compactMap { parameter in
                query.take(parameter).map {
                    QueryParameter(name: Array(parameter.utf8), value: $0)
                }
            }, limits: reader.limits)
        if filter?.namePrefix != nil, !names.isEmpty {
            throw Problem.invalidParameter("namePrefix", "cannot be combined with name")
        }
        if filter?.objectPrefix != nil, !objects.isEmpty {
            throw Problem.invalidParameter("objectPrefix", "cannot be combined with object")
        }
        for name in names { try reader.check(observedName: name, parameter: "name") }
        for object in objects { try reader.check(name: object, parameter: "object") }
        guard max(1, names.count) * max(1, objects.count) <= Self.streamObserverLimit else {
            throw Problem.invalidParameter(
                "name",
                "and object make more than \(Self.streamObserverLimit) observers, the limit"
            )
        }
        var observers: [ObserverRequest] = []
        for name in names.isEmpty ? [nil] : names.map(Optional.some) {
            for object in objects.isEmpty ? [nil] : objects.map(Optional.some) {
                var observer = ObserverRequest(name: name, object: object)
                observer.terms.endsWithConnection = true
                if let filter { observer.role = .filtered(filter, target: nil) }
                (observer.since, observer.beginning) = (start.sequence, start.beginning)
                observers.append(observer)
            }
        }
        return .connect(.events, observers: observers, since: lastEventPosition(&query))
    }

    /// A stream of values: each object at each key path.
    private mutating func openEvents(
        of objects: [[UInt8]], _ keyPaths: [[UInt8]], _ names: [[UInt8]], _ query: inout Query,
        _ reader: RequestReader
    ) throws(Problem) -> CenterRequest {
        guard names.isEmpty else {
            throw Problem.invalidParameter("name", "cannot be combined with keyPath")
        }
        guard !objects.isEmpty else {
            throw Problem.invalidParameter("object", "is required with keyPath")
        }
        for object in objects { try reader.check(name: object, parameter: "object") }
        guard objects.count * keyPaths.count <= Self.streamObserverLimit else {
            throw Problem.invalidParameter(
                "keyPath",
                "and object make more than \(Self.streamObserverLimit) observers, the limit"
            )
        }
        var observers: [ObserverRequest] = []
        for text in keyPaths {
            let path = try reader.keyPath(text)
            for object in objects {
                var observer = ObserverRequest(object: object, role: .value(ValueTerms(path: path)))
                observer.terms.endsWithConnection = true
                observers.append(observer)
            }
        }
        return .connect(.events, observers: observers, since: lastEventPosition(&query))
    }

    /// The stream of a mailbox: `Last-Event-ID` acknowledges.
    private mutating func openStream(
        of token: [UInt8], _ query: inout Query
    ) throws(Problem) -> CenterRequest {
        guard IdentifierText(observer: token.span) != nil else {
            throw Problem.invalidParameter("token", "must be the token of an observer")
        }
        reply.details.hasSecretTarget = true
        for parameter in ["name", "namePrefix", "object", "objectPrefix", "where", "keyPath"]
        where query.take(parameter) != nil {
            throw Problem.invalidParameter(
                parameter, "cannot be combined with token, whose observer has its own filter")
        }
        return .openStream(try secret(of: token), since: lastEventPosition(&query))
    }

    /// The position after which a stream continues, if the request names one.
    private mutating func lastEventPosition(_ query: inout Query) -> ReplayPosition? {
        let queryID = query.take("last_event_id")
        let fieldID = parser.head.copy(of: "last-event-id")
        // The field, which a browser sends by itself, is newer than the page's URL; an empty one
        // names no position.
        let ids = [fieldID, queryID].compactMap { $0 }.filter { !$0.isEmpty }
        return ids.first.map { Self.position(EventStream.position(of: $0.span)) }
    }

    /// A position; an unreadable one belongs to an unknown life of the center.
    private static func position(
        _ id: (epoch: [UInt8], sequence: UInt64)?
    ) -> ReplayPosition {
        ReplayPosition(epoch: id?.epoch ?? [], sequence: id?.sequence ?? 0)
    }

    private static func unique(_ values: [[UInt8]]) -> [[UInt8]] {
        var result: [[UInt8]] = []
        for value in values where !result.contains(value) { result.append(value) }
        return result
    }
}
