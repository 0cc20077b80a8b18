/// The visible part of a chain of addresses: up to the first that the caller's grants do not cover.
///
/// The rest stays hidden, both its addresses and their holders.
public struct Sight: Sendable {
    /// Whether an address is covered, with a selector where one is known.
    public typealias Covers = @Sendable (_ selector: [UInt8]?, _ address: [UInt8]) -> Bool

    private let covers: Covers?

    /// Sees everything.
    public static let everything = Sight(covers: nil)

    private init(covers: Covers?) { self.covers = covers }

    /// Sees the covered addresses.
    public init(_ covers: @escaping Covers) { self.covers = covers }

    /// The addresses of a path that are seen.
    func seen(of path: [[UInt8]], selector: [UInt8]? = nil) -> [[UInt8]] {
        guard let covers else { return path }
        return Array(path.prefix { covers(selector, $0) })
    }

    /// Whether all addresses of a path are seen.
    public func seesAll(of path: [[UInt8]]) -> Bool { seen(of: path).count == path.count }

    /// Whether an address is seen.
    func sees(_ address: [UInt8]) -> Bool { covers?(nil, address) ?? true }
}
