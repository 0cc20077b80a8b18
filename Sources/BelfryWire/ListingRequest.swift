public import BelfryCenter

/// Which rows a listing asks for.
public struct ListingRequest: Sendable {
    /// Page and filter.
    public var query = ObserverQuery()
    /// The state of the client; nil is any.
    public var state: ClientState? { query.state }
    /// The orders that the rows can have.
    private let orders: [RowOrder]

    /// Asks for all rows of a listing.
    public init(_ listing: Listing = .observers) { orders = listing.orders }

    /// The parameters of listings.
    enum Key: Int, CaseIterable {
        case limit, cursor, name, object, target, client, state, principal, selector, observer
        case waiting, contains, sort

        var text: String {
            switch self {
            case .limit: "limit"
            case .cursor: "cursor"
            case .name: "name"
            case .object: "object"
            case .target: "target"
            case .client: "client"
            case .state: "state"
            case .principal: "principal"
            case .selector: "selector"
            case .observer: "observer"
            case .waiting: "waiting"
            case .contains: "contains"
            case .sort: "sort"
            }
        }
    }

    /// The fault of a combination of parameters, and the key of the one at fault.
    var fault: (key: Key, detail: String)? {
        let isOfOrder = query.last != nil
        let isOther = query.order == nil ? isOfOrder : query.cursor > 0
        return isOther ? (.cursor, "must be the value of next of a page with this sort") : nil
    }

    static let cursorDetail = "must be the value of next of an earlier page"

    /// Sets a parameter from its text, and returns its fault or nil.
    mutating func set(_ key: Key, to text: [UInt8], limits: WireLimits) -> String? {
        switch key {
        case .limit: return setLimit(text, limits: limits)
        case .cursor:
            query.last = orders.isEmpty ? nil : CursorText.readKey(text.span)
            if query.last != nil { return nil }
            guard let cursor = CursorText.read(text.span) else { return Self.cursorDetail }
            query.cursor = cursor
            return nil
        case .name: query.name = text
        case .object: query.object = text
        case .target: query.target = text
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
        case .selector:
            query.selector = text
            return TextRule.faultOfSelector(text, limits: limits)
        case .observer:
            guard let id = IdentifierText(observer: text.span), id.secret == nil else {
                return "must be the id of an observer"
            }
            query.observer = id.number
            return nil
        case .waiting:
            query.isWaiting = text.elementsEqual("true".utf8)
            let isBoolean = query.isWaiting == true || text.elementsEqual("false".utf8)
            return isBoolean ? nil : "must be true or false"
        case .contains: query.contained = text
        case .sort:
            let order = RowOrder(rawValue: String(decoding: text, as: UTF8.self))
            query.order = order.flatMap { orders.contains($0) ? $0 : nil }
            let words = orders.map(\.rawValue).joined(separator: ", ")
            return query.order == nil ? "must be one of \(words)" : nil
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
    /// All parameters but `selector`, `observer` and `waiting`.
    case observers
    /// `limit`, `cursor`, `object`, `client`, `state`, `selector`, `contains` and `sort`.
    case responders
    /// `limit`, `cursor`, `object`, `selector`, `observer`, `contains` and `sort`.
    case asks
    /// `limit`, `cursor`, `object`, `contains` and `sort`.
    case values
    /// `limit`, `cursor`, `principal`, `state`, `contains` and `sort`.
    case clients
    /// `limit`, `cursor`, `name`, `contains` and `sort`.
    case channels
    /// `limit` and `cursor`.
    case centers
    /// `limit`, `cursor`, `name`, `object`, `waiting`, `contains` and `sort`.
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
        case .object:
            self == .observers || self == .responders || self == .asks || self == .queue
                || self == .values
        case .target: self == .observers
        case .principal: self == .observers || self == .clients
        case .state: self == .observers || self == .responders || self == .clients
        case .client: self == .observers || self == .responders
        case .selector: self == .responders || self == .asks
        case .observer: self == .asks
        case .waiting: self == .queue
        case .contains, .sort: !orders.isEmpty
        }
    }

    /// The orders that its rows can have; none where they have one of their own alone.
    var orders: [RowOrder] {
        switch self {
        case .observers: RowOrder.ofObservers
        case .clients: RowOrder.ofClients
        case .channels: RowOrder.ofChannels
        case .responders: RowOrder.ofResponders
        case .asks: RowOrder.ofAsks
        case .values: RowOrder.ofValues
        case .queue: RowOrder.ofQueue
        case .centers, .leaks, .reports: []
        }
    }

    /// The parameters that it knows.
    var keys: [ListingRequest.Key] { ListingRequest.Key.allCases.filter { knows($0) } }
}
