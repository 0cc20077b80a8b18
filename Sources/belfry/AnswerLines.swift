import BelfryClient
import BelfrySystem

/// Asks that are printed, and answered by lines of standard input.
final class AnswerLines: Sendable {
    private typealias Answer = Result<String, any Error>

    /// A line may be as long as a message.
    private static let lineLimit = 1 << 20

    /// The open asks, oldest first.
    private let open = Monitor<[(ask: Ask, continuation: CheckedContinuation<Answer, Never>)]>([])

    /// Prints an ask, and waits for its line; what wants no answer is printed alone.
    func answer(to ask: Ask) async throws -> String {
        let shown = Report.oneLine(ask.notification.json)
        guard ask.isAnswered else {
            try Report.write(shown)
            return "null"
        }
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                open.change { $0.append((ask, continuation)) }
                do throws(ToolError) {
                    try Report.write(shown)
                } catch {
                    end(ask.id, .failure(error))
                }
                // One that was cancelled before it stood in the table is found here.
                if Task.isCancelled { end(ask.id, .failure(CancellationError())) }
            }
        } onCancel: {
            end(ask.id, .failure(CancellationError()))
        }
        return try answer.get()
    }

    /// Reads lines to the end of standard input, on a thread of its own.
    func read(end: @escaping @Sendable () async -> Void) {
        Task {
            do {
                try await Blocking.call { () throws(SystemCallError) in try self.readLines() }
            } catch {
                Program.say("belfry: standard input cannot be read: \(error)", to: .error)
            }
            await end()
        }
    }

    private func readLines() throws(SystemCallError) {
        var rest: [UInt8] = []
        while true {
            let bytes = try StandardStream.input.readSome()
            if bytes.isEmpty { return }
            rest += bytes
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                take(Array(rest[..<end]))
                rest.removeFirst(end + 1)
            }
            if rest.count > Self.lineLimit {
                Program.say("belfry: a line is longer than 1 MiB", to: .error)
                rest = []
            }
        }
    }

    /// Takes one line as the answer to an ask.
    func take(_ line: [UInt8]) {
        guard let members = JSONObject(line) else {
            let text = #"belfry: a line is a JSON object, as {"answer":true}"#
            if !line.isEmpty { Program.say(text, to: .error) }
            return
        }
        guard let ask = ask(members.string("id")) else { return }
        if let answer = members.raw("answer") {
            end(ask.id, .success(String(decoding: answer, as: UTF8.self)))
        } else if let reason = members.string("refused") {
            end(ask.id, .failure(Refusal(reason)))
        } else if members.raw("passed") != nil {
            end(ask.id, .failure(Ask.Pass()))
        } else {
            Program.say("belfry: an answer needs the member answer, refused or passed", to: .error)
        }
    }

    /// The open ask with this id, or the oldest one.
    private func ask(_ id: String?) -> Ask? {
        open.change { open in
            open.first { id == nil || $0.ask.id == id }?.ask
        }
    }

    private func end(_ id: String, _ answer: sending Answer) {
        let waiter = open.change { open in
            open.firstIndex { $0.ask.id == id }.map { open.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: answer)
    }
}
