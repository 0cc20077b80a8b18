import BelfryCenter

/// The code of commands.
enum CommandChecks {
    /// Checks that a command is written in one way, however it was read.
    static func command(_ bytes: [UInt8]) -> String? {
        guard let command = try? Command(code: bytes) else { return nil }
        let code = command.code
        guard let again = try? Command(code: code) else { return "it is written as no command" }
        return again.code == code ? nil : "it is another one when it is read back"
    }
}
