import BelfryAccess
import BelfryCenter
import BelfryWire

/// The removal of a client with all of its observers.
struct RemoveClient: Operation {
    static let answersFirst = false
    let client: UInt64
    let session: [UInt8]?

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ context: inout LoopContext
    ) throws(Problem) {
        let (position, isOwn) = try host.centers.controlledClient(
            client, session: session, submission)
        let remover = isOwn ? Remover.client(client) : .principal(submission.caller.principal)
        host.submitCommand(.removeClient(client: client, by: remover), to: position, &context)
    }
}
