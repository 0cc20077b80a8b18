public import BelfryCenter

/// Which rows a listing asks for.
public struct ListingRequest: Sendable {
    /// Page and filter.
    public var query = ObserverQuery()
    /// The state of the client; nil is any.
    public var state: ClientState? { query.state }

    /// Asks for all rows.
    public init() {}

    /// The parameters of listings.
    enum Key: Int, CaseIterable {
        case limit, cursor, name, object, client, state, principal

        var text: String {
            switch self {
            case .limit: "limit"
            case .cursor: "cursor"
            case .name: "name"
            case .object: "object"
            case .client: "client"
            case .state: "state"
            case .principal: "principal"
            }
        }
    }

    static let cursorDetail = "must be the next of an earlier page"

    /// Takes the text of a parameter; tells what is wrong with it, or nil.
    mutating func set(_ key: Key, to text: [UInt8], limits: WireLimits) -> String? {
        switch key {
        case .limit: return setLimit(text, limits: limits)
        case .cursor:
            guard let cursor = CursorText.read(text.span) else {
                return Self.cursorDetail
            }
            query.cursor = cursor
            return nil
        case .name: query.name = text
        case .object: query.object = text
        case .client:
            guard let id = IdentifierText(client: text.span), id.secret == nil else {
                return "must be the id of a client"
            }
            query.client = id.number
            return nil
        case .state:
            query.state = ClientState(text: text)
            return query.state == nil ? "must be live, slow, asked or disconnected" : nil
        case .principal: query.principal = text
        }
        return TextRule.faultOfName(text.span, limits: limits)
    }

    private mutating func setLimit(_ text: [UInt8], limits: WireLimits) -> String? {
        guard let limit = Self.limit(text, limits: limits) else {
            return Self.limitDetail(limits)
        }
        query.limit = limit
        return nil
    }

    /// Reads how many rows a page has.
    static func limit(_ text: [UInt8], limits: WireLimits) -> Int? {
        guard let limit = Decimal.read(text.span), limit >= 1, limit <= limits.pageRowLimit else {
            return nil
        }
        return Int(limit)
    }

    static func limitDetail(_ limits: WireLimits) -> String {
        "must be an integer from 1 to \(limits.pageRowLimit)"
    }
}

/// The listings; each knows some parameters.
public enum Listing: Sendable, Equatable, CaseIterable {
    /// All parameters.
    case observers
    /// `limit`, `cursor`, `principal` and `state`.
    case clients
    /// `limit`, `cursor` and `name`.
    case channels
    /// `limit` and `cursor`.
    case centers
    /// `limit`, `cursor`, `name` and `object`.
    case queue
    /// `limit` and `cursor`.
    case leaks
    /// `limit` alone.
    case reports

    func knows(_ key: ListingRequest.Key) -> Bool {
        switch key {
        case .limit: true
        case .cursor: self != .reports
        case .name: self == .observers || self == .channels || self == .queue
        case .object: self == .observers || self == .queue
        case .principal, .state: self == .observers || self == .clients
        case .client: self == .observers
        }
    }
}
