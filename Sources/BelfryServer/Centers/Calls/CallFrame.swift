import BelfryCenter

/// The calls of one frame in progress.
struct CallFrame {
    let text: [UInt8]
    /// The calling client; `resume` makes it another one.
    var client: CallingClient
    let submission: Submission
    /// The batch of the calls; nil for a single call.
    var batch: CallBatch?
    /// Whether no other call is in the frame.
    var isAlone = true
    /// The id of the current call; nil for one that is not answered.
    var call: [UInt8]?
    /// The current method.
    var method = CallMethod.post
    /// Whether a call has asked for a replay.
    var hasReplayed = false
    /// Whether the frame was left to another turn.
    var hasWaited = false
    /// Whether there was no room to leave the following calls to another turn.
    var isCut = false
    /// The deliveries that its posts may make so far.
    var deliveryBound = DeliveryBound()
}

/// The state of a call.
enum CallStep {
    /// The answer is in the content of the outbox, and the connection continues in this way.
    case done(Sequel)
    /// The answer comes later.
    case later
    /// The command is not applied yet.
    case begun
}
