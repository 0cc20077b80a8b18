/// An operation whose command is not applied yet.
struct Pending {
    var operation: any Operation
    let submission: Submission
    /// The frame of the call, if it is one, and the call's place in a batch.
    var frame: CallFrame?
    var place: CallPlace?
    /// Whether the connection of the request has gone, or can no longer be written to.
    var hasLeft = false
}
