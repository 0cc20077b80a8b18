import BelfryClient
import BelfrySystem

/// The reason that a command fails.
enum ToolError: Error, Equatable {
    /// The command line is not one that makes sense: exit code 2.
    case usage(String)
    /// Something else went wrong: exit code 1.
    case failure(String)
    /// An ask has no answer of a responder: exit code 3.
    case unanswered(String)

    init(_ error: ClientError) {
        self = .failure(error.description)
    }

    init(_ error: SystemCallError) {
        self = .failure(error.description)
    }

    /// The exit code (CommandLine.md).
    var exitCode: Int32 {
        switch self {
        case .usage: 2
        case .failure: 1
        case .unanswered: 3
        }
    }

    /// A sentence for the user of the program.
    var text: String {
        switch self {
        case .usage(let text), .failure(let text), .unanswered(let text): text
        }
    }
}

extension ToolError: CustomStringConvertible {
    /// The same sentence: the log of a broker tells it when a reload fails.
    var description: String { text }
}
