import BelfryBytes

/// The last number that a center has dispatched of each name.
///
/// There is a fixed number of cells: names that share one share its number, which is then too high for some of them
/// and too low for none. A broker that was killed learns from it what it cannot have lost: what it never dispatched.
public struct DispatchMarks: Footprinted, Sendable, Equatable {
    /// How many cells there are; the first is that of all names together.
    public static let cellCount = 511

    /// The numbers, by the places of names.
    public private(set) var cells: [UInt64]

    /// Has one number for every name: 0 of a center that is new, the highest that can have been used where nobody knows.
    public init(all sequence: UInt64) {
        cells = [UInt64](repeating: sequence, count: Self.cellCount)
    }

    /// Takes the numbers of all cells.
    public init?(cells: [UInt64]) {
        guard cells.count == Self.cellCount else { return nil }
        self.cells = cells
    }

    /// The bytes of the cells.
    var footprint: Int { cells.footprint }

    /// Where the number of a name is: by FNV-1a, which is the same in each process.
    ///
    /// Whoever lets names share a cell lets observers be told of losses that are none.
    public static func place(of name: Span<UInt8>) -> Int {
        1 + Int(name.fnv1a % UInt64(cellCount - 1))
    }

    /// The last number of a name, or of all names where there is none.
    func last(of name: [UInt8]?) -> UInt64 {
        cells[name.map { Self.place(of: $0.span) } ?? 0]
    }
}
