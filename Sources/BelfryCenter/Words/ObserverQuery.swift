/// Which rows a listing asks for; a field that is nil or zero asks for any.
public struct ObserverQuery: Sendable {
    /// The serial number after which the page starts.
    public var cursor: UInt64 = 0
    /// How many rows the page has at most.
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
    /// Whether timers alone are wanted, or entries of the queue alone; nil is both.
    public var isWaiting: Bool?
    /// Who the client is.
    public var principal: [UInt8]?
    /// The state of the client.
    public var state: ClientState?

    /// What one of the texts of a row has in it, the letters of ASCII in either case.
    public var contained: [UInt8]?
    /// The order of the rows; nil is that of their numbers.
    public var order: RowOrder?
    /// The place in the order behind which the page starts.
    public var last: RowKey?

    /// Asks for all rows, and what else is said.
    public init(
        after cursor: UInt64 = 0, limit: Int = 100,
        _ change: (inout ObserverQuery) -> Void = { _ in }
    ) {
        self.cursor = cursor
        self.limit = limit
        change(&self)
    }

    /// Whether rows are looked for in another way than page by page.
    var isSurvey: Bool { contained != nil || order != nil }

    /// Whether every row is wanted.
    var includesAll: Bool {
        name == nil && object == nil && target == nil && client == nil && principal == nil
            && state == nil && selector == nil && observer == nil && contained == nil
    }

    func includes(_ row: ObserverRow) -> Bool {
        (name == nil || name == row.name) && (object == nil || object == row.object)
            && (target == nil || target == row.role.target)
            && (client == nil || client == row.client)
            && (principal == nil || principal == row.principal)
            && (state == nil || state == row.state)
    }
}
