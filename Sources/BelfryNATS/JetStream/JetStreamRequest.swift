import BelfryJSON

/// A request to the API of JetStream: it is published to its subject, with a reply subject.
public enum JetStreamRequest: Sendable, Equatable {
    /// STREAM.CREATE; the answer is a `StreamInfo`, also where there is a stream with them.
    case create(StreamConfiguration)
    /// STREAM.INFO; the answer is a `StreamInfo`.
    case info(StreamName)
    /// STREAM.PURGE of the messages before a number; the answer is a `StreamPurge`.
    ///
    /// With a number past the end the next message has that number.
    case purge(StreamName, before: UInt64)
    /// DIRECT.GET of up to `batch` messages from a number on; each answer is a `DirectAnswer`.
    ///
    /// What the messages of a batch take in all ends it, too: with the one that passes `maxBytes`.
    case directGet(StreamName, from: UInt64, batch: Int, maxBytes: Int)
    /// DIRECT.GET of the message of a number; the answer is one `DirectAnswer`.
    case directGetMessage(StreamName, UInt64)
    /// DIRECT.GET of the last message of a subject; the answer is one `DirectAnswer`.
    case directGetLast(StreamName, Subject)

    /// The subject that the API has for it.
    public var subject: Subject {
        switch self {
        case .create(let config): Subject(prefix: "$JS.API.STREAM.CREATE.", config.name)
        case .info(let stream): Subject(prefix: "$JS.API.STREAM.INFO.", stream)
        case .purge(let stream, _): Subject(prefix: "$JS.API.STREAM.PURGE.", stream)
        case .directGet(let stream, _, _, _), .directGetMessage(let stream, _),
            .directGetLast(let stream, _):
            Subject(prefix: "$JS.API.DIRECT.GET.", stream)
        }
    }

    /// The JSON that is published; empty for STREAM.INFO.
    public var payload: [UInt8] {
        switch self {
        case .create(let config): config.json
        case .info: []
        // For 0 the server would remove all.
        case .purge(_, let sequence): Self.object([("seq", max(sequence, 1))])
        case .directGet(_, let sequence, let batch, let maxBytes):
            Self.object([
                ("seq", sequence), ("batch", UInt64(batch)), ("max_bytes", UInt64(maxBytes)),
            ])
        case .directGetMessage(_, let sequence): Self.object([("seq", max(sequence, 1))])
        case .directGetLast(_, let subject): Self.object(member: "last_by_subj", subject)
        }
    }

    private static func object(member: String, _ subject: Subject) -> [UInt8] {
        var json: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &json)
        writer.member(member, string: subject.bytes, into: &json)
        writer.endObject(into: &json)
        return json
    }

    private static func object(_ members: [(name: String, number: UInt64)]) -> [UInt8] {
        var json: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &json)
        for member in members { writer.member(member.name, integer: member.number, into: &json) }
        writer.endObject(into: &json)
        return json
    }
}
