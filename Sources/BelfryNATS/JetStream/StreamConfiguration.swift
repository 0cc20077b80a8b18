import BelfryJSON

/// The settings of a stream, as far as they are spoken here; a server has defaults for the others.
public struct StreamConfiguration: Sendable, Equatable {
    /// The time for which messages are kept.
    public enum Retention: String, Sendable {
        /// Until a limit is passed.
        case limits
        /// While a consumer is interested.
        case interest
        /// Until a consumer has taken it.
        case workQueue = "workqueue"
    }

    /// The message that a full stream does without.
    public enum Discard: String, Sendable {
        /// The oldest one.
        case old
        /// The one that should be added.
        case new
    }

    /// The place where messages are kept.
    public enum Storage: String, Sendable {
        /// Files.
        case file
        /// Memory.
        case memory
    }

    /// The subjects to which what a stream has stored is published again.
    public struct Republish: Sendable, Equatable {
        /// Which messages; `src` in JSON.
        public var source: Subject
        /// Where they are published to; `dest` in JSON.
        public var destination: Subject

        /// From one subject to another one.
        public init(source: Subject, destination: Subject) {
            (self.source, self.destination) = (source, destination)
        }
    }

    /// The name.
    public var name: StreamName
    /// The subjects whose messages the stream takes.
    public var subjects: [Subject]
    /// How long messages are kept.
    public var retention = Retention.limits
    /// Which message a full stream does without.
    public var discard = Discard.old
    /// Where messages are kept.
    public var storage = Storage.file
    /// How many servers have a copy.
    public var numReplicas = 1
    /// The most room that messages may take, in bytes; -1 is no limit.
    public var maxBytes = -1
    /// Whether each server with a copy answers DIRECT.GET.
    public var allowDirect = false
    /// Whether single messages cannot be deleted.
    public var denyDelete = false
    /// For how long the stream knows the ids of messages; for 0 the server has a default.
    public var duplicateWindow = Duration.zero
    /// Where messages are published again.
    public var republish: Republish?

    /// Settings with the defaults of a server.
    public init(name: StreamName, subjects: [Subject]) {
        (self.name, self.subjects) = (name, subjects)
    }
}

extension StreamConfiguration {
    /// The settings as JSON.
    var json: [UInt8] {
        var json: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &json)
        writer.member("name", string: name.bytes, into: &json)
        writer.key("subjects", into: &json)
        writer.beginArray(into: &json)
        for subject in subjects { writer.string(subject.bytes, into: &json) }
        writer.endArray(into: &json)
        writer.member("retention", string: retention.rawValue, into: &json)
        writer.member("discard", string: discard.rawValue, into: &json)
        writer.member("storage", string: storage.rawValue, into: &json)
        writer.member("num_replicas", integer: numReplicas, into: &json)
        writer.member("max_bytes", integer: maxBytes, into: &json)
        writer.member("allow_direct", bool: allowDirect, into: &json)
        writer.member("deny_delete", bool: denyDelete, into: &json)
        let (seconds, attoseconds) = duplicateWindow.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        writer.member("duplicate_window", integer: Int(nanoseconds), into: &json)
        if let republish {
            writer.key("republish", into: &json)
            writer.beginObject(into: &json)
            writer.member("src", string: republish.source.bytes, into: &json)
            writer.member("dest", string: republish.destination.bytes, into: &json)
            writer.endObject(into: &json)
        }
        writer.endObject(into: &json)
        return json
    }

    /// Reads settings; members that are not known are passed over.
    init(_ reader: inout MemberReader) throws(NATSError) {
        var read = Self(name: StreamName(), subjects: [])
        try reader.object { member, reader throws(NATSError) in
            switch member {
            case "name": read.name = try StreamName(try reader.text())
            case "subjects":
                for subject in try reader.texts() {
                    read.subjects.append(try Subject(pattern: subject))
                }
            case "retention": read.retention = try reader.word(of: member)
            case "discard": read.discard = try reader.word(of: member)
            case "storage": read.storage = try reader.word(of: member)
            case "num_replicas": read.numReplicas = try reader.number()
            case "max_bytes": read.maxBytes = try reader.number()
            case "allow_direct": read.allowDirect = try reader.flag()
            case "deny_delete": read.denyDelete = try reader.flag()
            case "duplicate_window":
                read.duplicateWindow = .nanoseconds(try reader.number() as Int64)
            case "republish": read.republish = try Republish(&reader)
            default: try reader.skip()
            }
        }
        guard !read.name.bytes.isEmpty else { throw .unexpectedMember("name") }
        self = read
    }
}

extension StreamConfiguration.Republish {
    fileprivate init(_ reader: inout MemberReader) throws(NATSError) {
        var source: Subject?
        var destination: Subject?
        try reader.object { member, reader throws(NATSError) in
            switch member {
            case "src": source = try Subject(pattern: try reader.text())
            case "dest": destination = try Subject(pattern: try reader.text())
            default: try reader.skip()
            }
        }
        guard let source, let destination else { throw .unexpectedMember("republish") }
        self.init(source: source, destination: destination)
    }
}
