import BelfryCenter

/// The calls of one frame while they are performed.
struct CallFrame {
    let text: [UInt8]
    /// Who calls; `resume` makes it another client.
    var client: CallingClient
    let submission: Submission
    /// The batch that the calls belong to; nil for a call that stands for itself.
    var batch: CallBatch?
    /// Whether no other call is in the frame.
    var isAlone = true
    /// The id of the call that is performed; nil for one that is not answered.
    var call: [UInt8]?
    /// What it calls.
    var method = CallMethod.post
    /// Whether a call has asked for what the replay ring has.
    var hasReplayed = false
    /// Whether it was left to another turn.
    var hasWaited = false
    /// Whether there was no room to leave the calls that follow to another turn.
    var isCut = false
    /// How often its posts may be delivered, as far as it has come.
    var deliveryBound = DeliveryBound()
}

/// How far a call has come.
enum CallStep {
    /// Its answer is in the content of the outbox, and this becomes of the connection.
    case done(Sequel)
    /// The answer comes later.
    case later
    /// Its command was not applied yet.
    case begun
}
