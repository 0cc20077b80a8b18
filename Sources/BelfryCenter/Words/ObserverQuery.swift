/// The query of a listing; a field that is nil or zero matches any row.
public struct ObserverQuery: Sendable {
    /// The serial number after which the page starts.
    public var cursor: UInt64 = 0
    /// The most rows of the page.
    public var limit = 100
    /// The notification name of the filter.
    public var name: [UInt8]?
    /// The object of the filter.
    public var object: [UInt8]?
    /// The address that the deliveries go to.
    public var target: [UInt8]?
    /// The number of the client.
    public var client: UInt64?
    /// A selector that is implemented, or that is asked for.
    public var selector: [UInt8]?
    /// The number of the observer whose turn it is to answer.
    public var observer: UInt64?
    /// Whether timers alone are listed, or queue entries alone; nil is both.
    public var isWaiting: Bool?
    /// The principal of the client.
    public var principal: [UInt8]?
    /// The state of the client.
    public var state: ClientState?

    /// A text that a text of the row contains, the letters of ASCII in either case.
    public var contained: [UInt8]?
    /// The order of the rows; nil is that of their numbers.
    public var order: RowOrder?
    /// The place in the order behind which the page starts.
    public var last: RowKey?

    /// Makes a query for all rows that the changes limit.
    public init(
        after cursor: UInt64 = 0, limit: Int = 100,
        _ change: (inout ObserverQuery) -> Void = { _ in }
    ) {
        self.cursor = cursor
        self.limit = limit
        change(&self)
    }

    /// Whether the rows are selected in another way than page by page.
    var isSurvey: Bool { contained != nil || order != nil }

    /// Whether every row matches.
    var includesAll: Bool {
        name == nil && object == nil && target == nil && client == nil && principal == nil
            && state == nil && selector == nil && observer == nil && contained == nil
    }

    func includes(_ row: ObserverRow) -> Bool {
        (name == nil || name == row.name || row.role.filter?.names.contains(name ?? []) == true)
            && (object == nil || object == row.object)
            && (target == nil || target == row.role.target)
            && (client == nil || client == row.client)
            && (principal == nil || principal == row.principal)
            && (state == nil || state == row.state)
    }
}
