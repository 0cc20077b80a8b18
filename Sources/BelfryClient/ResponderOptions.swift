internal import BelfryJSON

/// The options of a responder; the broker has defaults for those that are nil.
public struct ResponderOptions: Equatable, Sendable {
    /// The choice to make when the address has a holder already.
    public enum IfHeld: String, Sendable {
        /// The new one takes its place.
        case replace
        /// The new one is refused.
        case refuse
        /// The new one joins, if all of them share.
        case share
    }

    /// The selectors that it implements; it gets asks for these, and posts with these names.
    ///
    /// The object of the posts is its address. Without selectors it is an alias of `next`.
    public var selectors: [String]
    /// The address that is asked when this one does not answer.
    public var next: String?
    /// The choice when the address has a holder already; the broker's default is `replace`.
    public var ifHeld: IfHeld?
    /// How many asks may be open at it at once, 1 to 1,000; the broker's default is 1,000.
    public var concurrency: Int?
    /// The options of all observers: lifetime, lease and behavior during suspension.
    public var terms = ObserverOptions()

    /// Makes options with these selectors, and the defaults.
    public init(_ selectors: [String]) {
        self.selectors = selectors
    }

    /// The options of a worker: it shares its address, and keeps its place for its lease.
    package static func worker(
        _ selectors: [String], concurrency: Int, lease: Duration?
    ) -> ResponderOptions {
        var options = ResponderOptions(selectors)
        options.ifHeld = .share
        options.concurrency = concurrency
        options.terms.lifetime = .token
        options.terms.lease = lease.map { .limited($0) }
        options.terms.suspensionBehavior = .hold
        return options
    }

    func write(_ writer: inout JSONWriter, _ bytes: inout [UInt8]) {
        writer.key("implements", into: &bytes)
        writer.beginArray(into: &bytes)
        for selector in selectors { writer.string(selector, into: &bytes) }
        writer.endArray(into: &bytes)
        if let next { writer.member("next", string: next, into: &bytes) }
        if let ifHeld { writer.member("ifHeld", string: ifHeld.rawValue, into: &bytes) }
        if let concurrency { writer.member("concurrency", integer: concurrency, into: &bytes) }
        terms.write(&writer, &bytes)
    }
}
