import BelfryCenter
import BelfryWire

/// The suspension of a client, or its end.
struct SetSuspended: Operation {
    static let answersFirst = true
    let isSuspended: Bool
    let client: UInt64
    let asker: Asker

    /// Whether the client itself calls.
    private var isCall: Bool { if case .client = asker { true } else { false } }

    /// The origin of the request.
    enum Asker {
        /// A path names the client, with its session or as an admin (PATCH /v1/clients/{id}).
        case path(session: [UInt8]?)
        /// The client itself calls.
        case client
    }

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        if case .path(let session) = asker {
            _ = try host.centers.controlledClient(client, session: session, submission)
        }
        guard let position = host.centers.position(of: submission.center) else {
            throw Problem.noClient
        }
        let action = host.centers.action(
            .setSuspended(client: client, isSuspended), ofClient: isCall ? client : nil,
            on: submission.reply.number)
        host.submitCommand(action, to: position, &outbox)
    }

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Ending {
        outbox.tellSuspension(of: client, isSuspended, because: "asked")
        if isCall {
            Shape.append(isSuspended: isSuspended, to: &outbox.content)
            return .answer(.json)
        }
        guard let row = host.centers[host.applied.position].client(client) else {
            throw Problem.noClient
        }
        Shape.append(
            client: row, unsentByteCount: outbox.unsentByteCount(of: row), to: &outbox.content)
        return .answer(.json)
    }
}
