import BelfryCluster

/// A NATS server of which a test says each word, and the journal that it speaks with.
final class ScriptedServer {
    /// Something that a client has sent.
    struct Sent: Equatable {
        var verb: String
        var subject = ""
        var reply = ""
        var headers = ""
        var payload: [UInt8] = []

        var text: String { String(decoding: payload, as: UTF8.self) }
        /// The last tokens of the reply subject, which say what is asked.
        var inquiry: String { String(reply.dropFirst(ScriptedServer.inbox.count + 1)) }
    }

    static let inbox = "_INBOX.1-2"
    let journal: NATSJournal
    private var configs: [String: [UInt8]] = [:]

    init(_ change: (inout NATSSettings) -> Void = { _ in }) throws {
        var settings = NATSSettings(cluster: "prod", node: "n1")
        settings.snapshotByteLimit = 6 << 20
        change(&settings)
        journal = try NATSJournal(settings)
        journal.didConnect(random: (1, 2))
    }

    /// A server whose journal is ready.
    static func ready(
        maxPayload: Int = 2 << 20, _ change: (inout NATSSettings) -> Void = { _ in }
    ) throws -> ScriptedServer {
        let server = try ScriptedServer(change)
        server.greet(maxPayload: maxPayload)
        server.takeCreates()
        for stream in ["c.0", "c.1"] { server.answer(stream, server.info(of: stream)) }
        _ = server.sent()
        return server
    }

    /// Sends INFO.
    func greet(version: String = "2.12.0", maxPayload: Int = 2 << 20, _ more: String = "") {
        receive(
            #"INFO {"server_id":"S","server_name":"n","version":"\#(version)","headers":true,"#
                + #""max_payload":\#(maxPayload)\#(more)}"# + "\r\n")
    }

    func receive(_ text: String) { receive(Array(text.utf8)) }

    func receive(_ bytes: [UInt8]) { journal.receive(bytes.span) }

    /// Sends a message: MSG, or HMSG with headers.
    func message(
        _ sid: Int, _ subject: String, _ payload: [UInt8], headers: String? = nil
    ) {
        if let headers {
            let count = headers.utf8.count
            receive(
                Array("HMSG \(subject) \(sid) \(count) \(count + payload.count)\r\n\(headers)".utf8)
                    + payload + [13, 10])
        } else {
            receive(Array("MSG \(subject) \(sid) \(payload.count)\r\n".utf8) + payload + [13, 10])
        }
    }

    // MARK: Answers

    /// Answers an inquiry.
    func answer(_ inquiry: String, _ text: String) {
        message(3, "\(Self.inbox).\(inquiry)", Array(text.utf8))
    }

    /// Answers an inquiry by a status.
    func answer(_ inquiry: String, status: String, _ fields: String = "") {
        message(
            3, "\(Self.inbox).\(inquiry)", [], headers: "NATS/1.0 \(status)\r\n\(fields)\r\n")
    }

    /// Answers an inquiry by a message of a stream.
    func answer(_ inquiry: String, sequence: UInt64, _ payload: [UInt8]) {
        message(
            3, "\(Self.inbox).\(inquiry)", payload,
            headers: "NATS/1.0\r\nNats-Sequence: \(sequence)\r\n\r\n")
    }

    /// Acknowledges what was published to a stream.
    func acknowledge(_ inquiry: String, _ sequence: UInt64, in stream: String = "BELFRY_prod") {
        answer(inquiry, #"{"stream":"\#(stream)","seq":\#(sequence)}"#)
    }

    func refuse(_ inquiry: String, code: Int = 500, number: Int, _ text: String) {
        answer(
            inquiry,
            #"{"error":{"code":\#(code),"err_code":\#(number),"description":"\#(text)"}}"#)
    }

    /// Takes the streams that the journal wants, so that they can be told as they are.
    func takeCreates() {
        for sent in sent() where sent.subject.hasPrefix("$JS.API.STREAM.CREATE.") {
            configs[sent.inquiry] = sent.payload
        }
    }

    /// The answer that a stream is there, by the inquiry that made it.
    func info(
        of stream: String = "c.0", first: UInt64 = 0, last: UInt64 = 0,
        _ change: (String) -> String = { $0 }
    ) -> String {
        let config = change(String(decoding: configs[stream] ?? [], as: UTF8.self))
        return #"{"config":\#(config),"state":{"first_seq":\#(first),"last_seq":\#(last)}}"#
    }

    // MARK: What the journal has sent and told

    func sent() -> [Sent] {
        var rest = journal.takeOutput()[...]
        var all: [Sent] = []
        while let end = rest.firstIndex(of: 13) {
            let words = String(decoding: rest[..<end], as: UTF8.self).split(separator: " ")
            rest = rest[(end + 2)...]
            var sent = Sent(verb: String(words[0]))
            switch sent.verb {
            case "PUB", "HPUB":
                let sizes = words.suffix(sent.verb == "PUB" ? 1 : 2).compactMap { Int($0) }
                let headerCount = sizes.count == 2 ? sizes[0] : 0
                sent.subject = String(words[1])
                sent.reply = words.count == 3 + sizes.count ? String(words[2]) : ""
                sent.headers = String(decoding: rest.prefix(headerCount), as: UTF8.self)
                sent.payload = Array(rest.prefix(sizes[sizes.count - 1]).dropFirst(headerCount))
                rest = rest.dropFirst(sizes[sizes.count - 1] + 2)
            default:
                sent.subject = words.dropFirst().joined(separator: " ")
            }
            all.append(sent)
        }
        return all
    }

    /// The messages of the journal as inquiries; others by their subjects or verbs.
    func inquiries() -> [String] {
        sent().map {
            !$0.reply.isEmpty ? $0.inquiry : $0.verb == "PUB" ? $0.subject : $0.verb
        }
    }

    /// The events of the journal, as text.
    func events() -> [String] {
        var told: [String] = []
        while let event = journal.next() {
            switch event {
            case .entry(let index, let bytes): told.append("entry \(index) \(bytes)")
            case .appended(let name, let index):
                told.append("appended \(name.life).\(name.number).\(name.attempt) \(index)")
            case .refused(let name, let refusal): told.append("refused \(name.number) \(refusal)")
            case .end(let lastIndex): told.append("end \(lastIndex)")
            case .trimmed(let firstIndex): told.append("trimmed \(firstIndex)")
            case .snapshot(let snapshot):
                told.append(
                    "snapshot \(snapshot.map { "\($0.index) \($0.state.count)" } ?? "none")")
            case .saved(let index): told.append("saved \(index)")
            case .reconnected: told.append("reconnected")
            case .beat(let beat): told.append("beat \(beat.node) \(beat.life) \(beat.appliedIndex)")
            }
        }
        return told
    }

    /// The failure of the journal, as a sentence, and whether it is final.
    var failure: String? {
        guard case .failed(let failure) = journal.progress else { return nil }
        return (failure.isFinal ? "final: " : "") + "\(failure)"
    }
}
