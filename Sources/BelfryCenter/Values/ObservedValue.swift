/// What is kept of an observer of a value besides its registration: a machine with two states.
///
/// | state | is | a change | it may have it |
/// | --- | --- | --- | --- |
/// | live | no mark | is written, held (`hold`, or while others are flushed), lost (`drop`), or makes it marked | what is held is written |
/// | marked | one entry without content among what its client is held, at the place of the last change | moves the mark to its own place; the gap of the mark before is noted | the present value is written as `initial`: it is live |
///
/// It becomes marked by a change while its client is suspended and it coalesces, by a change within its
/// `minInterval`, when more is held for it than may be (rules V8 and V9), and on its way back when it may have missed
/// a change (rule V10). A marked observer holds no frame behind its mark: what is written for that has all of it.
struct ObservedValue: Sendable {
    let terms: ValueTerms
    /// The key path as it was given.
    let pathText: [UInt8]
    /// The slot of the value, and the node of the place.
    let value: UInt32
    let node: UInt32
    /// The entry that is its mark, if it is marked.
    var mark = HeldTable.none
    /// Whether the mark stands for a change that was not told, and not only for the present value.
    var markIsChange = false
    /// The present value as the observer was told it.
    var present = ToldPresent()

    var isMarked: Bool { mark != HeldTable.none }
}

extension ObservedValue: Coded {
    init(_ known: ObservedValue?, by coder: inout some Coder) throws(CodeError) {
        terms = try coder(known?.terms)
        pathText = try coder(known?.pathText)
        value = try coder(known?.value)
        node = try coder(known?.node)
        mark = try coder(known?.mark)
        markIsChange = try coder(known?.markIsChange)
        present = try coder(known?.present)
    }
}
