/// What began with a command that was not applied yet.
struct Pending {
    let operation: any Operation
    let submission: Submission
    /// The call that it is, if it is one, and its place in a batch.
    var frame: CallFrame?
    var place: CallPlace?
}
