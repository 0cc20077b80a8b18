internal import BelfryLoop
internal import BelfrySystem
internal import Synchronization

/// The way from any thread to the loop that holds the connection.
final class ClientDoor: Sendable {
    let mailbox: LoopMailbox<ClientCommand>

    private static let messageLimit = 4_096
    private let abandoned = Atomic(false)
    private let failed = Atomic(false)

    init() throws(SystemCallError) {
        mailbox = try LoopMailbox(messageLimit: Self.messageLimit)
    }

    /// Hands a command to the loop; when that is not possible, whoever asked is told at once.
    func submit(_ command: ClientCommand) {
        if !mailbox.post(command) {
            command.fail(.tooManyRequests(limit: Self.messageLimit))
        } else if failed.load(ordering: .sequentiallyConsistent) {
            // Whoever comes last, this thread or that of the loop, finds the command.
            refuseAll()
        }
    }

    /// Nobody is left who could ask for anything: the loop is to end.
    func abandon() {
        abandoned.store(true, ordering: .sequentiallyConsistent)
        mailbox.wake.signal()
    }

    var isAbandoned: Bool {
        abandoned.load(ordering: .sequentiallyConsistent)
    }

    /// The loop has ended although it was not abandoned.
    func fail() {
        failed.store(true, ordering: .sequentiallyConsistent)
        refuseAll()
    }

    private func refuseAll() {
        var commands: [ClientCommand] = []
        mailbox.drain(into: &commands)
        for command in commands { command.fail(.notConnected) }
    }
}
