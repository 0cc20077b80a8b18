import ArgumentParser
import BelfryClient
import BelfrySystem

/// `belfry backup`.
struct Backup: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy the store of a running broker into a file.",
        discussion: """
            The copy has everything that was answered before, and is restored as belfry.db of an \
            empty data directory. It needs the grant admin on everything.
            """)

    @Argument(
        help: .value("The file to write, which must not exist yet; - is standard output.", "FILE"),
        completion: .file())
    var file: String

    @OptionGroup var place: PlaceOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        if file == "-" {
            if StandardStream.output.isTerminal {
                throw .usage(
                    "a backup is not text for a terminal: give a FILE, or redirect the output")
            }
            return try await receive(from: url, signals) { bytes throws(SystemCallError) in
                try StandardStream.output.write(bytes.span)
            }
        }
        let copy = try begin()
        do throws(ToolError) {
            try await receive(from: url, signals) { bytes throws(SystemCallError) in
                try copy.write(bytes)
            }
            try finish(copy)
        } catch {
            copy.discard()
            throw error
        }
    }

    /// Begins the file.
    func begin() throws(ToolError) -> NewFile {
        do throws(SystemCallError) {
            return try NewFile(path: file)
        } catch {
            throw .failure("\(file), or \(NewFile.partial(file)), cannot be made: \(error)")
        }
    }

    private func finish(_ copy: NewFile) throws(ToolError) {
        do throws(SystemCallError) {
            try copy.finish()
        } catch {
            throw .failure("\(file): \(error)")
        }
    }

    /// Asks for a backup and writes it as it comes; a signal ends it.
    private func receive(
        from url: BrokerURL, _ signals: StopSignals,
        _ write: @escaping @Sendable ([UInt8]) throws(SystemCallError) -> Void
    ) async throws(ToolError) {
        var request = HTTPRequest.post("/v1/backup", json: [])
        request.form = .media("application/vnd.sqlite3")
        // Nothing comes until the copy is whole and checked.
        request.timeout = .seconds(600)
        let whole = request
        let outcome = WriteOutcome()
        do throws(ClientError) {
            try await signals.run { () async throws(ClientError) in
                try await whole.content(from: url) { outcome.note($0, write) }
            }
        } catch {
            if outcome.error == nil { throw .failure("\(url): \(error)") }
        }
        if let error = outcome.error { throw .failure("\(file): \(error)") }
    }
}

/// Whether all that came could be written, as the thread that writes tells.
private final class WriteOutcome: Sendable {
    private let failure = Monitor<SystemCallError?>(nil)

    /// Writes, and tells whether that went well.
    func note(
        _ bytes: [UInt8], _ write: ([UInt8]) throws(SystemCallError) -> Void
    ) -> Bool {
        do throws(SystemCallError) {
            try write(bytes)
            return true
        } catch {
            failure.change { $0 = error }
            return false
        }
    }

    var error: SystemCallError? { failure.change { $0 } }
}
