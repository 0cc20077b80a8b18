/// The marks of the last entries of a log, by their index.
struct LogPast: Sendable {
    /// The state of the log at an entry.
    struct Mark: Sendable {
        /// The time of the log, in nanoseconds.
        let time: Int64
        /// The digest of the log up to that entry.
        let chain: UInt64
    }

    /// The number of remembered entries: more than a broker writes before it can be declared down.
    static let limit = 65_536

    private var marks = Ring<Mark>()
    /// The index of the first mark.
    private var firstIndex: UInt64 = 0

    /// Makes the past of an empty log.
    init() { append(Mark(time: 0, chain: 0)) }

    /// Makes a past that begins with an entry: those before are unknown.
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

    /// The mark of an entry; nil for one that is forgotten.
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
