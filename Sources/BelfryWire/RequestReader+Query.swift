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

/// The listings; each knows some parameters.
public enum Listing: Sendable, Equatable, CaseIterable {
    /// All parameters.
    case observers
    /// `limit`, `cursor` and `principal`.
    case clients
    /// `limit`, `cursor` and `name`.
    case channels
    /// `limit` and `cursor`.
    case centers
    /// `limit` alone.
    case reports

    func knows(_ key: ListingRequest.Key) -> Bool {
        switch key {
        case .limit: true
        case .cursor: self != .reports
        case .name: self == .observers || self == .channels
        case .principal: self == .observers || self == .clients
        case .object, .client, .state: self == .observers
        }
    }
}

// The queries of what is looked at; all faults are collected.
extension RequestReader {
    /// Reads the query of a listing.
    ///
    /// - Throws: invalid-fields, also for an unknown parameter and one that comes twice.
    public func listing(
        _ listing: Listing, query: [QueryParameter]
    ) throws(Problem) -> ListingRequest {
        var request = ListingRequest()
        let keys = ListingRequest.Key.allCases.filter { listing.knows($0) }
        try read(query, of: keys.map(\.text)) { index, value in
            request.set(keys[index], to: value, limits: limits)
        }
        return request
    }

    /// Reads the query of an explanation.
    ///
    /// - Throws: invalid-fields, also for an unknown parameter and one that comes twice.
    public func explain(query: [QueryParameter]) throws(Problem) -> ExplainRequest {
        var values: [[UInt8]?] = [nil, nil]
        try read(query, of: ["name", "object"]) { index, value in
            values[index] = value
            return TextRule.faultOfName(value.span, limits: limits)
        }
        guard let name = values[0] else { throw .invalidParameter("name", "is required") }
        return ExplainRequest(name: name, object: values[1])
    }

    /// Hands each parameter to `set` by its place in `names`; it tells what is wrong with it.
    private func read(
        _ query: [QueryParameter], of names: [String], set: (Int, [UInt8]) -> String?
    ) throws(Problem) {
        var faults = Faults(limits: limits)
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
                faults.add(.parameter(name), "must not come twice")
                continue
            }
            if let fault = set(index, parameter.value) { faults.add(.parameter(name), fault) }
        }
        try faults.check()
    }
}
