internal import BelfryCenter

/// A parameter of a query, percent-decoded.
public struct QueryParameter: Sendable, Equatable {
    /// Its name.
    public var name: [UInt8]
    /// Its value.
    public var value: [UInt8]

    /// Joins both.
    public init(name: [UInt8], value: [UInt8]) {
        self.name = name
        self.value = value
    }
}

// The queries of listings; all faults are collected.
extension RequestReader {
    /// Reads the query of a listing.
    ///
    /// - Throws: invalid-fields, also for an unknown parameter and one that comes twice.
    public func listing(
        _ listing: Listing, query: [QueryParameter]
    ) throws(Problem) -> ListingRequest {
        var request = ListingRequest(listing)
        let keys = listing.keys
        var faults = Faults(limits: limits)
        _ = read(query, of: keys.map(\.text), &faults) { index, value in
            request.set(keys[index], to: value, limits: limits)
        }
        if let fault = request.fault { faults.add(.parameter(fault.key.text), fault.detail) }
        try faults.check()
        return request
    }

    /// Reads the query of an explanation.
    ///
    /// - Throws: invalid-fields, also for an unknown parameter and one that comes twice.
    public func explain(query: [QueryParameter]) throws(Problem) -> ExplainRequest {
        let keys = ExplainFields.Key.allCases
        var explanation = ExplainFields()
        var faults = Faults(limits: limits)
        _ = read(query, of: keys.map(\.text), &faults) { index, value in
            explanation.set(keys[index], to: value, limits: limits)
        }
        let request = explanation.request { faults.add(.parameter($0.text), $1) }
        guard let request, faults.isEmpty else { throw faults.problem ?? .invalid([]) }
        return request
    }

    /// Reads the query of a dequeue; there is no `id`, for an entry has a path of its own.
    ///
    /// - Throws: invalid-fields, also when nothing is given (rule Q20).
    public func dequeue(query: [QueryParameter]) throws(Problem) -> DequeueRequest {
        var dequeue = DequeueFields()
        var faults = Faults(limits: limits)
        _ = read(query, of: ["name", "object", "coalesce"], &faults) { index, value in
            switch index {
            case 0: dequeue.name = value
            case 1: dequeue.object = value
            default:
                dequeue.mask = Coalescing(list: value)
                return dequeue.mask == nil ? Coalescing.listDetail : nil
            }
            return TextRule.faultOfName(value.span, limits: limits)
        }
        try faults.check()
        let request = dequeue.request { key, detail in
            // A query has no root to point to, and no id.
            let isRoot = key == nil
            faults.add(
                .parameter(key ?? "name"),
                isRoot ? "is required, unless object or coalesce is given" : detail)
        }
        guard let request else { throw faults.problem ?? .invalid([]) }
        return request
    }

    /// Reads the query of a look into a mailbox.
    ///
    /// - Throws: invalid-fields, also for an unknown parameter and one that comes twice.
    public func mailbox(query: [QueryParameter]) throws(Problem) -> MailboxRequest {
        var request = MailboxRequest()
        var faults = Faults(limits: limits)
        _ = read(query, of: ["after", "limit"], &faults) { index, value in
            if index == 0 {
                request.after = Self.sequence(value)
                return request.after == nil ? Self.sequenceDetail : nil
            }
            guard let limit = ListingRequest.limit(value, limits: limits) else {
                return ListingRequest.limitDetail(limits)
            }
            request.limit = limit
            return nil
        }
        try faults.check()
        return request
    }

    /// Reads a number of a query that counts up.
    ///
    /// - Throws: invalid-fields.
    public func sequence(_ text: [UInt8], parameter: String) throws(Problem) -> UInt64 {
        guard let sequence = Self.sequence(text) else {
            throw .invalidParameter(parameter, Self.sequenceDetail)
        }
        return sequence
    }

    private static let sequenceDetail =
        "must be an integer from 0 to \(ObserverFields.greatestSequence)"

    private static func sequence(_ text: [UInt8]) -> UInt64? {
        guard let sequence = Decimal.read(text.span),
            sequence <= UInt64(ObserverFields.greatestSequence)
        else { return nil }
        return sequence
    }

    /// Reads the options of a post; a fault is told by its parameter.
    ///
    /// Object and causedBy were taken before, so that another one of them comes twice.
    func readOptions(_ query: [QueryParameter], _ faults: inout Faults) -> PostOptions? {
        let keys = PostOptionFields.Key.allCases
        var fields = PostOptionFields()
        let names = keys.map(\.text) + ["object", "causedBy"]
        _ = read(query, of: names, &faults) { index, value in
            index < keys.count
                ? fields.set(keys[index], to: value, limits: limits) : Self.twiceDetail
        }
        fields.forEachMisfit { key, detail in faults.add(.parameter(key.text), detail) }
        return fields.options
    }

    private static let twiceDetail = "must not be repeated"

    /// Hands each parameter to `set` by its place in `names`; `set` returns its fault.
    ///
    /// - Returns: the places of those that came.
    func read(
        _ query: [QueryParameter], of names: [String], _ faults: inout Faults,
        set: (Int, [UInt8]) -> String?
    ) -> Set<Int> {
        var seen: Set<Int> = []
        for parameter in query {
            let name = String(
                decoding: parameter.name.prefix(limits.nameScalarLimit), as: UTF8.self)
            let index = names.firstIndex { parameter.name.elementsEqual($0.utf8) }
            guard let index else {
                faults.add(.parameter(name), "is not a known parameter")
                continue
            }
            guard seen.insert(index).inserted else {
                faults.add(.parameter(name), Self.twiceDetail)
                continue
            }
            if let fault = set(index, parameter.value) { faults.add(.parameter(name), fault) }
        }
        return seen
    }
}
