internal import BelfryLoop
internal import BelfrySystem
internal import Synchronization

/// The way from any thread to the loop that holds the connection.
final class ClientDoor: Sendable {
    let mailbox: LoopMailbox<ClientCommand>

    private static let messageLimit = 4_096
    private let abandoned = Atomic(false)
    private let isShut = Atomic(false)

    init() throws(SystemCallError) {
        mailbox = try LoopMailbox(messageLimit: Self.messageLimit)
    }

    /// Hands a command to the loop, or fails it at once where that is not possible.
    func submit(_ command: ClientCommand) {
        if !mailbox.post(command) {
            command.fail(.tooManyRequests(limit: Self.messageLimit))
        } else if isShut.load(ordering: .sequentiallyConsistent) {
            // Whichever thread comes last, this one or the loop's, finds the command.
            refuseAll()
        }
    }

    /// Ends the loop, because its owner has left.
    func abandon() {
        abandoned.store(true, ordering: .sequentiallyConsistent)
        mailbox.wake.signal()
    }

    var isAbandoned: Bool {
        abandoned.load(ordering: .sequentiallyConsistent)
    }

    /// The loop has ended, and takes no command any more.
    func shut() {
        isShut.store(true, ordering: .sequentiallyConsistent)
        refuseAll()
    }

    private func refuseAll() {
        var commands: [ClientCommand] = []
        mailbox.drain(into: &commands)
        for command in commands { command.fail(.notConnected) }
    }
}
