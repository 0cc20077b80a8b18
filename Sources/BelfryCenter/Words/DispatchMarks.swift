import BelfryBytes

/// The last dispatched number of each name in a center.
///
/// There is a fixed number of cells: names that share a cell share its number, which is then too
/// high for some of them and too low for none. A broker that was killed learns from it what it
/// cannot have lost: all that it never dispatched.
public struct DispatchMarks: Footprinted, Sendable, Equatable {
    /// The number of cells; the first is for all names together.
    public static let cellCount = 511

    /// The numbers, by the places of names.
    public private(set) var cells: [UInt64]

    /// Gives every name the same number.
    ///
    /// It is 0 for a new center, and the highest that can have been used where that is unknown.
    public init(all sequence: UInt64) {
        cells = [UInt64](repeating: sequence, count: Self.cellCount)
    }

    /// Makes marks of the numbers of all cells.
    public init?(cells: [UInt64]) {
        guard cells.count == Self.cellCount else { return nil }
        self.cells = cells
    }

    /// The bytes of the cells.
    var footprint: Int { cells.footprint }

    /// The cell of a name: by FNV-1a, which is the same in each process.
    ///
    /// A client that makes names share a cell can make observers get reports of losses that never
    /// happened.
    public static func place(of name: Span<UInt8>) -> Int {
        1 + Int(name.fnv1a % UInt64(cellCount - 1))
    }

    /// The last number of a name, or of all names for nil.
    func last(of name: [UInt8]?) -> UInt64 {
        cells[name.map { Self.place(of: $0.span) } ?? 0]
    }
}
