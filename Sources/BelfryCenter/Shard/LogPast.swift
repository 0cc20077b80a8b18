/// The marks of the last entries of a log, by their index.
struct LogPast: Sendable {
    /// The facts behind an entry.
    struct Mark: Sendable {
        /// The time of the log, in nanoseconds.
        let time: Int64
        /// The digest of the log up to that entry.
        let chain: UInt64
    }

    /// How many entries are remembered: more than a broker writes in the time in which it is declared down.
    static let limit = 65_536

    private var marks = Ring<Mark>()
    /// The index of the first mark.
    private var firstIndex: UInt64 = 0

    /// Begins with the mark of an empty log.
    init() { append(Mark(time: 0, chain: 0)) }

    /// Begins with the mark of an entry: nothing is known of those before.
    init(at index: UInt64, _ mark: Mark) {
        firstIndex = index
        append(mark)
    }

    /// Adds the mark of the next entry.
    mutating func append(_ mark: Mark) {
        // The storage never has room for more than the limit.
        if marks.count == Self.limit {
            marks.removeFirst()
            firstIndex += 1
        }
        marks.append(mark)
    }

    /// The mark of an entry; nil where the shard does not remember it any more.
    subscript(index: UInt64) -> Mark? {
        guard index >= firstIndex, index - firstIndex < UInt64(marks.count) else { return nil }
        return marks[marks.startPosition + (index - firstIndex)]
    }
}

extension LogPast: Coded {
    init(_ known: LogPast?, by coder: inout some Coder) throws(CodeError) {
        marks = try coder(known?.marks)
        firstIndex = try coder(known?.firstIndex)
    }
}

extension LogPast.Mark: Coded {
    init(_ known: LogPast.Mark?, by coder: inout some Coder) throws(CodeError) {
        time = try coder(known?.time)
        chain = try coder(known?.chain)
    }
}
