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
    enum Key: String, CaseIterable {
        case limit, cursor, name, object, target, client, state, principal, selector, observer
        case waiting, contains, sort
    }

    /// The fault of a combination of parameters, and the key of the one at fault.
    var fault: (key: Key, detail: String)? {
        let isOfOrder = query.last != nil
        let isOther = query.order == nil ? isOfOrder : query.cursor > 0
        return isOther ? (.cursor, "must be the value of next of a page with this sort") : nil
    }

    static let cursorDetail = "must be the value of next of an earlier page"

    /// Reads or skips the value of one parameter.
    mutating func read(
        _ key: Key, from source: inout some FieldSource, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch key {
        case .limit:
            let range = 1...source.limits.pageRowLimit
            query.limit = try source.integer(in: range, of: bytes) ?? query.limit
        case .cursor:
            guard let text = try source.string(in: bytes) else { return }
            query.last = orders.isEmpty ? nil : CursorText.readKey(text.span)
            if query.last != nil { return }
            if let cursor = CursorText.read(text.span) {
                query.cursor = cursor
            } else {
                source.addFault(Self.cursorDetail)
            }
        case .name: query.name = try source.name(in: bytes)
        case .object: query.object = try source.name(in: bytes)
        case .target: query.target = try source.name(in: bytes)
        case .client:
            query.client = try source.serial("must be the id of a client", in: bytes) {
                IdentifierText(client: $0)
            }
        case .state: query.state = try source.word(in: bytes)
        case .principal: query.principal = try source.name(in: bytes)
        case .selector: query.selector = try source.selector(in: bytes)
        case .observer:
            query.observer = try source.serial("must be the id of an observer", in: bytes) {
                IdentifierText(observer: $0)
            }
        case .waiting: query.isWaiting = try source.boolean(in: bytes)
        case .contains: query.contained = try source.name(in: bytes)
        case .sort:
            let words = orders.map(\.rawValue).joined(separator: ", ")
            query.order = try source.value("must be one of \(words)", in: bytes) { text in
                RowOrder(rawValue: String(decoding: text, as: UTF8.self))
                    .flatMap { orders.contains($0) ? $0 : nil }
            }
        }
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
    /// `limit` and `cursor`.
    case archives

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
        case .centers, .leaks, .reports, .archives: []
        }
    }

    /// The parameters that it knows.
    var keys: [ListingRequest.Key] { ListingRequest.Key.allCases.filter { knows($0) } }
}

extension FieldReader {
    private static let listing = FieldTable(Listing.observers.keys)

    /// Reads the members of a listing of observers from JSON-RPC params.
    mutating func readListing(in bytes: Span<UInt8>) throws(Problem) -> ListingRequest? {
        var request = ListingRequest()
        guard try beginObject(in: bytes) else { return nil }
        while let key = try nextKey(of: Self.listing, in: bytes) {
            try request.read(key, from: &self, in: bytes)
        }
        if let fault = request.fault { addFault(fault.key, fault.detail) }
        return request
    }
}
