/// The additional data of an action that a responder holds, or was sent and has not answered.
///
/// The entry belongs to the responder, as if that had observed the notification itself (rules K6
/// and K9).
struct HeldAction: Footprinted, Sendable, Equatable {
    /// The observer that has the target: its row is in the receipt.
    let row: UInt64
    /// The method that the responder is called with.
    let selector: [UInt8]
    /// Whether the responder answers, and the poster may wait for that.
    let acknowledges: Bool
    /// The addresses of the walk; the last one is that of the responder.
    var path: [[UInt8]]
    /// The responders that were asked to answer it: each is asked once.
    var shown: [UInt64] = []

    /// The additional members of its frame.
    var addressed: Addressed {
        Addressed(target: path.last ?? [], kind: .action(selector: selector, row: row))
    }

    /// The bytes of its lists; selectors and addresses are mostly shared with their holders.
    var footprint: Int {
        Footprint.array(of: path.count, stride: MemoryLayout<[UInt8]>.stride) + shown.footprint
    }
}

extension HeldAction: Coded {
    init(_ known: HeldAction?, by coder: inout some Coder) throws(CodeError) {
        row = try coder(known?.row)
        selector = try coder(known?.selector)
        acknowledges = try coder(known?.acknowledges)
        path = try coder(known?.path)
        shown = try coder(known?.shown)
    }
}
