import ArgumentParser
import BelfryClient

/// `belfry remove`.
struct Remove: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove observers, clients, modes and what waits in the queue.",
        discussion: """
            The id says what to remove: o17 is an observer, c4 a client with all its observers, m3 \
            a mode that was entered, and 26 letters and digits are a notification in the queue. To \
            remove what belongs to others needs the grant admin, or the token of the observer or \
            mode in place of the id. The first one that cannot be removed ends the command.
            """)

    @Argument(
        help: .value("An id or a token, as listings and registrations show it.", "ID"),
        completion: Completing.ids)
    var ids: [String]

    @OptionGroup var place: PlaceOptions

    func validate() throws {
        if let id = ids.first(where: { (try? Self.request(for: $0)) == nil }) {
            throw ValidationError(
                """
                `\(id)` is no id: o17 is an observer, c4 a client, m3 a mode, and 26 letters and \
                digits a notification.
                """
            )
        }
    }

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        for id in ids {
            do throws(ClientError) {
                _ = try await Self.request(for: id)?.acceptedAnswer(from: url)
            } catch {
                throw .failure("\(url): \(Self.text(of: error, for: id))")
            }
        }
    }

    /// The reason that nothing was removed; a 404 may also hide another caller's object.
    static func text(of error: ClientError, for id: String) -> String {
        let text = "\(HTTPRequest.publicHalf(of: id)): \(error)"
        guard case .refused(let refusal) = error, refusal.status == 404, !id.contains(".") else {
            return text
        }
        return "\(text) If it is listed, you may not remove it: that needs its token, or the grant "
            + "`admin`."
    }

    /// The request that removes the object with this id; nil if the text is no id.
    static func request(for id: String) throws(ClientError) -> HTTPRequest? {
        let number = HTTPRequest.publicHalf(of: id).utf8.dropFirst()
        let isNumber = !number.isEmpty && number.allSatisfy { 0x30...0x39 ~= $0 }
        switch id.utf8.first {
        case UInt8(ascii: "o") where isNumber: return try .removeObserver(id)
        case UInt8(ascii: "c") where isNumber && HTTPRequest.publicHalf(of: id) == id:
            return .delete("clients/\(id)")
        case UInt8(ascii: "m") where isNumber: return .leaveMode(id)
        case _ where id.utf8.count == 26 && id.utf8.allSatisfy { 0x30...0x5A ~= $0 }:
            return .delete("queue/\(id)")
        default: return nil
        }
    }
}
