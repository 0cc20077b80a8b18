/// A filter for the removal of a client's observers; a nil field matches any (rule O3).
public struct ObserverFilter: Sendable, Equatable {
    /// The notification name that was registered.
    public var name: [UInt8]?
    /// The object that was registered.
    public var object: [UInt8]?
    /// The address that the deliveries go to.
    public var target: [UInt8]?
    /// The method that is called.
    public var selector: [UInt8]?
    /// The names, the prefixes and the condition that were registered.
    public var terms: FilterTerms?

    /// Joins the fields.
    public init(
        name: [UInt8]? = nil, object: [UInt8]? = nil, target: [UInt8]? = nil,
        selector: [UInt8]? = nil
    ) {
        self.name = name
        self.object = object
        self.target = target
        self.selector = selector
    }

    /// Whether no field is set: then nothing is removed (rule O10).
    public var isEmpty: Bool {
        name == nil && object == nil && target == nil && selector == nil && terms == nil
    }
}
