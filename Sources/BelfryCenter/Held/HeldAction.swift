/// What is known besides of an action that a responder is held, or was sent and has not answered (rules K6 and K9).
///
/// Its entry is the responder's, as if that had observed the notification itself.
struct HeldAction: Footprinted, Sendable, Equatable {
    /// The observer that has the target: its row stands in the receipt.
    let row: UInt64
    /// The method that the responder is called with.
    let selector: [UInt8]
    /// Whether the responder answers, and the poster may wait for that.
    let acknowledges: Bool
    /// The addresses of the walk; the last one is that of the responder.
    var path: [[UInt8]]
    /// The responders that were asked to answer it: nobody is asked twice.
    var shown: [UInt64] = []

    /// What its frame has besides the notification.
    var addressed: Addressed {
        Addressed(target: path.last ?? [], kind: .action(selector: selector, row: row))
    }

    /// The bytes of its lists: selectors and addresses are mostly those of who holds the addresses.
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
