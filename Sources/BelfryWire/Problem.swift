public import BelfryJSON

/// The reason that a request failed: a problem document (RFC 9457).
public struct Problem: Error, Sendable, Equatable {
    /// The kind, from which type, title and status follow.
    public var kind: Kind
    /// The description of this failure, for a reader.
    public var detail: String
    /// The fields at fault.
    public var errors: [FieldError]
    /// More members of the document, such as `removedAt`.
    public var members: [Member]

    /// Joins the parts.
    public init(
        _ kind: Kind, _ detail: String, errors: [FieldError] = [], members: [Member] = []
    ) {
        self.kind = kind
        self.detail = detail
        self.errors = errors
        self.members = members
    }

    /// A fault of one query parameter.
    public static func invalidParameter(_ name: String, _ detail: String) -> Problem {
        invalid([FieldError(.parameter(name), detail)])
    }

    /// A fault of one header field.
    public static func invalidHeader(_ name: String, _ detail: String) -> Problem {
        invalid([FieldError(.header(name), detail)])
    }

    /// A request whose fields are at fault.
    public static func invalid(_ errors: [FieldError]) -> Problem {
        Problem(.invalidFields, "The request has fields that are not valid.", errors: errors)
    }

    /// The place of a fault, and the broken rule.
    public struct FieldError: Sendable, Equatable {
        /// Where it is.
        public var place: Place
        /// The rule that the field broke.
        public var detail: String

        /// Joins both.
        public init(_ place: Place, _ detail: String) {
            self.place = place
            self.detail = detail
        }
    }

    /// Where a fault is.
    public enum Place: Sendable, Equatable {
        /// In the content, or in the `params` of a JSON-RPC call.
        case pointer(JSONPointer)
        /// In the query or the path.
        case parameter(String)
        /// In a header field.
        case header(String)
    }

    /// A member that only some problems have.
    public struct Member: Sendable, Equatable {
        /// Its key, which needs no escapes.
        public var key: String
        /// Its value, which is JSON.
        public var json: [UInt8]

        /// A member whose value is JSON already.
        public init(_ key: String, json: [UInt8]) {
            self.key = key
            self.json = json
        }

        /// A member with a string of UTF-8 text.
        public init(_ key: String, string text: [UInt8]) {
            var json: [UInt8] = []
            JSONWriter.append(string: text.span, to: &json)
            self.init(key, json: json)
        }

        /// A member with an array of strings of UTF-8 text.
        public init(_ key: String, strings texts: [[UInt8]]) {
            var writer = JSONWriter()
            var json: [UInt8] = []
            writer.beginArray(into: &json)
            for text in texts { writer.string(text, into: &json) }
            writer.endArray(into: &json)
            self.init(key, json: json)
        }

        /// A member with an integer.
        public init(_ key: String, integer value: Int) {
            var json: [UInt8] = []
            JSONWriter.append(integer: value, to: &json)
            self.init(key, json: json)
        }
    }
}

extension Problem {
    /// Appends the document (`application/problem+json`).
    public func append(to output: inout [UInt8]) {
        var writer = JSONWriter()
        append(to: &output, with: &writer)
    }

    func append(to output: inout [UInt8], with writer: inout JSONWriter) {
        writer.beginObject(into: &output)
        writer.member("type", string: kind.type, into: &output)
        writer.member("title", string: kind.title, into: &output)
        writer.member("status", integer: kind.status, into: &output)
        writer.member("detail", string: detail, into: &output)
        if !errors.isEmpty {
            writer.key("errors", into: &output)
            writer.beginArray(into: &output)
            for error in errors { Self.append(error, to: &output, with: &writer) }
            writer.endArray(into: &output)
        }
        for member in members { writer.member(member.key, raw: member.json, into: &output) }
        writer.endObject(into: &output)
    }

    private static func append(
        _ error: FieldError, to output: inout [UInt8], with writer: inout JSONWriter
    ) {
        writer.beginObject(into: &output)
        switch error.place {
        case .pointer(let pointer): writer.member("pointer", string: pointer.bytes, into: &output)
        case .parameter(let name): writer.member("parameter", string: name, into: &output)
        case .header(let name): writer.member("header", string: name, into: &output)
        }
        writer.member("detail", string: error.detail, into: &output)
        writer.endObject(into: &output)
    }
}
