import ArgumentParser
import BelfryClient
import BelfrySystem

/// A command that holds an address, and answers the asks for it.
protocol ResponderCommand: ClientCommand {
    var object: String { get }
    var options: ResponderOptions { get }
    var following: FollowOptions { get }
    var place: PlaceOptions { get }
    /// The command that is run for each ask; asks are answered by lines where it is empty.
    var command: [String] { get }
    /// Whether it is one of several workers: it leaves its place to the next one, and output that
    /// is not JSON is a text, and no fault.
    static var isWorker: Bool { get }
}

extension ResponderCommand {
    /// The same command line with an option in the place of `--`.
    ///
    /// A parser that has a list of selectors takes no second list behind it.
    static func withOption(_ arguments: [String]) -> [String] {
        let names = [Respond._commandName, Work._commandName]
        guard let first = arguments.first, names.contains(first),
            let end = arguments.firstIndex(of: "--")
        else { return arguments }
        return arguments[..<end] + ["--command"] + arguments[(end + 1)...]
    }

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        let command = try NotificationCommand(self.command)
        let lines = command.words.isEmpty ? AnswerLines() : nil
        do throws(ClientError) {
            let center = try await following.connect(to: url)
            let responder = try await center.respond(to: object, options) { ask in
                if let lines { return try await lines.answer(to: ask) }
                return try await command.answer(to: ask, takesText: Self.isWorker)
            }
            let stopping = Task {
                guard await signals.wait() else { return }
                Self.isWorker ? center.leave() : await center.close()
            }
            lines?.read { await center.close() }
            do throws(ClientError) {
                try await responder.waitUntilRemoved()
            } catch {
                // It has left.
                guard error == .closedByOwner else { throw error }
            }
            await center.close()
            // One that has just begun may not know yet that its ask is over.
            command.end()
            stopping.cancel()
        } catch {
            throw .failure("\(url): \(error)")
        }
    }
}
