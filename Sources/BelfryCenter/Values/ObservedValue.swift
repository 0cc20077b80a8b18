/// The state of an observer of a value besides its registration: a machine with two states.
///
/// | state | is | at a change | at writing |
/// | --- | --- | --- | --- |
/// | live | no mark | writes, holds, loses, or becomes marked | held changes are written |
/// | marked | an entry without content | moves the mark, notes a gap | `initial`: it is live |
///
/// A live observer holds the change with `hold` or during a flush, and loses it with `drop`. The
/// mark is among the held entries of its client, at the place of the last change, and the gap is
/// that of the former mark.
///
/// It becomes marked by a change while its client is suspended and it coalesces, by a change within
/// its `minInterval`, when the limit of its held changes is passed (rules V8 and V9), and when its
/// client comes back and may have missed a change (rule V10). A marked observer holds no frame
/// behind its mark: the frame that is written for the mark includes all of it.
struct ObservedValue: Sendable {
    let terms: ValueTerms
    /// The key path as it was given.
    let pathText: [UInt8]
    /// The slot of the value, and the node of the place.
    let value: UInt32
    let node: UInt32
    /// The entry of the mark, if it is marked.
    var mark = HeldTable.none
    /// Whether the mark is for an unreported change, and not only for the present value.
    var markIsChange = false
    /// The present value that the observer was sent.
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
