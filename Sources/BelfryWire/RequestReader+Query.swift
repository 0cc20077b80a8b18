internal import BelfryCenter
internal import BelfryJSON

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
        let keys = JSONKeyTable(listing.keys)
        var reader = QueryReader(limits: limits)
        for parameter in query {
            guard let key = reader.key(of: parameter, in: keys) else { continue }
            try request.read(key, from: &reader, in: parameter.value.span)
        }
        if let fault = request.fault {
            reader.faults.add(.parameter(fault.key.rawValue), fault.detail)
        }
        try reader.faults.check()
        return request
    }

    /// Reads the query of an explanation.
    ///
    /// - Throws: invalid-fields, also for an unknown parameter and one that comes twice.
    public func explain(query: [QueryParameter]) throws(Problem) -> ExplainRequest {
        var explanation = ExplainFields()
        var reader = QueryReader(limits: limits)
        for parameter in query {
            guard let key = reader.key(of: parameter, in: ExplainFields.parameters) else {
                continue
            }
            try explanation.read(key, from: &reader, in: parameter.value.span)
        }
        let request = explanation.request { reader.faults.add(.parameter($0.rawValue), $1) }
        guard let request, reader.faults.isEmpty else {
            throw reader.faults.problem ?? .invalid([])
        }
        return request
    }

    /// Reads the query of a dequeue; there is no `id`, for an entry has a path of its own.
    ///
    /// - Throws: invalid-fields, also when nothing is given (rule Q20).
    public func dequeue(query: [QueryParameter]) throws(Problem) -> DequeueRequest {
        var dequeue = DequeueFields()
        var reader = QueryReader(limits: limits)
        for parameter in query {
            guard let key = reader.key(of: parameter, in: DequeueFields.parameters) else {
                continue
            }
            try dequeue.read(key, from: &reader, in: parameter.value.span)
        }
        try reader.faults.check()
        let request = dequeue.request { key, detail in
            // A query has no root to point to, and no id.
            reader.faults.add(
                .parameter((key ?? .name).rawValue),
                key == nil ? "is required, unless object or coalesce is given" : detail)
        }
        guard let request else { throw reader.faults.problem ?? .invalid([]) }
        return request
    }

    /// Reads the query of a look into a mailbox.
    ///
    /// - Throws: invalid-fields, also for an unknown parameter and one that comes twice.
    public func mailbox(query: [QueryParameter]) throws(Problem) -> MailboxRequest {
        var request = MailboxRequest()
        var reader = QueryReader(limits: limits)
        for parameter in query {
            let bytes = parameter.value.span
            switch reader.key(of: parameter, in: Self.mailboxTable) {
            case .after:
                request.after = reader.integer(in: WireLimits.sequences, of: bytes)
                    .map { UInt64($0) }
            case .limit:
                let range = 1...limits.pageRowLimit
                request.limit = reader.integer(in: range, of: bytes) ?? request.limit
            case nil: continue
            }
        }
        try reader.faults.check()
        return request
    }

    private enum MailboxKey: String, CaseIterable { case after, limit }
    private static let mailboxTable = JSONKeyTable(MailboxKey.allCases)

    /// Reads a number of a query that counts up.
    ///
    /// - Throws: invalid-fields.
    public func sequence(_ text: [UInt8], parameter: String) throws(Problem) -> UInt64 {
        guard let sequence = Decimal.read(text.span),
            sequence <= UInt64(WireLimits.sequences.upperBound)
        else {
            throw .invalidParameter(
                parameter, "must be an integer from 0 to \(WireLimits.sequences.upperBound)")
        }
        return sequence
    }

    /// The options of a post; another object or causedBy has none.
    private static let optionTable = JSONKeyTable<PostOptionFields.Key?>(
        PostOptionFields.Key.allCases.map { (name: $0.rawValue, key: $0) }
            + [(name: "object", key: nil), (name: "causedBy", key: nil)])

    /// Reads the options of a post; a fault names its parameter.
    ///
    /// Object and causedBy were read before, so that another one of them comes twice.
    func readOptions(
        _ query: [QueryParameter], _ faults: inout Faults
    ) throws(Problem) -> PostOptions? {
        var fields = PostOptionFields()
        var reader = QueryReader(limits: limits, faults: faults)
        for parameter in query {
            guard let key = reader.key(of: parameter, in: Self.optionTable) else { continue }
            guard let key else {
                reader.addFault(QueryReader.twiceDetail)
                continue
            }
            try fields.read(key, from: &reader, in: parameter.value.span)
            if fields.timer.isFarewell {
                reader.addFault(TimerFields.farewellDetail)
                fields.timer.isFarewell = false
            }
        }
        fields.forEachMisfit { reader.faults.add(.parameter($0.rawValue), $1) }
        faults = reader.faults
        return fields.options
    }
}
