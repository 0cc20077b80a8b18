/// Which observers a listing asks for; a field that is nil or zero asks for any.
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
    /// Who the client is.
    public var principal: [UInt8]?
    /// The state of the client.
    public var state: ClientState?

    /// Asks for all observers.
    public init() {}

    func includes(_ row: ObserverRow) -> Bool {
        (name == nil || name == row.name) && (object == nil || object == row.object)
            && (target == nil || target == row.role.target)
            && (client == nil || client == row.client)
            && (principal == nil || principal == row.principal)
            && (state == nil || state == row.state)
    }
}
