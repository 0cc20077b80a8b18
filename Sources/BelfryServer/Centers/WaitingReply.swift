import BelfryCenter

/// A reply that waits for the completion of its posts.
struct WaitingReply {
    let reply: Reply
    let form: ReceiptForm
    /// The id of the call, if it is the answer to one.
    let call: [UInt8]?
    /// The ticket of what the posts have changed; 0 if nothing must last.
    let ticket: UInt64
    /// Its place in a batch of calls, if it is in one.
    var place: CallPlace?
}

/// A post that is complete, and is answered when the turn ends.
struct CompletedPost {
    let completion: Completion
    let waiting: WaitingReply
    /// Whether its answer may say what this turn has changed.
    let waitsForTurn: Bool
}
