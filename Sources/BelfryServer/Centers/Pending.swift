/// What began with a command that was not applied yet.
struct Pending {
    var operation: any Operation
    let submission: Submission
    /// The call that it is, if it is one, and its place in a batch.
    var frame: CallFrame?
    var place: CallPlace?
    /// Whether the connection has gone that asked, or can be written to no longer.
    var hasLeft = false
}
