internal import BelfryJSON

/// The notifications that an observer is registered for: names, objects, and a condition.
///
/// ```
/// let large = try NotificationFilter.Condition(json: #"{"total":{"atLeast":100}}"#)
/// let filter = NotificationFilter(names: .prefix("Order."), where: large)
/// let orders = try await center.addObserver(for: filter)
/// ```
///
/// All three must match. Names and objects are compared byte by byte; nothing in them is a pattern.
public struct NotificationFilter: Equatable, Sendable {
    /// The names that match.
    public enum Names: Equatable, Sendable {
        /// Any name.
        case any
        /// This name.
        case exactly(String)
        /// Each of 1 to 32 names; the observer gets a notification once.
        case oneOf([String])
        /// Names that begin with this text, and this text itself; 1 to 255 Unicode scalars.
        case prefix(String)
    }

    /// The objects that match.
    public enum Objects: Equatable, Sendable {
        /// Any object, and none.
        case any
        /// This object.
        case exactly(String)
        /// Objects that begin with this text, and this text itself; 1 to 255 Unicode scalars.
        case prefix(String)
    }

    /// A condition on the userInfo, as the broker decides it; JSON that this library passes on.
    public struct Condition: Equatable, Sendable {
        /// The JSON text.
        public let json: [UInt8]

        /// Copies a condition: a JSON object, or an array of them, of which one must hold.
        ///
        /// - Throws: `ClientError.invalidCondition` for anything else; an operator that the broker
        ///   does not know is refused by the broker.
        public init(json: String) throws(ClientError) {
            let bytes = Array(json.utf8)
            var reader = JSONReader(depthLimit: UserInfo.depthLimit)
            do {
                let kind = try reader.peekKind(in: bytes.span)
                guard kind == .object || kind == .array else { throw ClientError.invalidCondition }
                let range = try reader.skipValue(in: bytes.span)
                try reader.finish(in: bytes.span)
                self.json = Array(bytes[range])
            } catch {
                throw .invalidCondition
            }
        }
    }

    /// The names that match; the default is any.
    public var names: Names
    /// The objects that match; the default is any.
    public var objects: Objects
    /// The condition that the userInfo must fulfil, if there is one.
    public var condition: Condition?

    /// Makes a filter; without arguments it matches every notification.
    public init(names: Names = .any, objects: Objects = .any, where condition: Condition? = nil) {
        self.names = names
        self.objects = objects
        self.condition = condition
    }

    /// Makes the filter of a name and an object, of which `nil` is any.
    init(name: String?, object: String?) {
        self.init(
            names: name.map { .exactly($0) } ?? .any, objects: object.map { .exactly($0) } ?? .any)
    }

    /// The name, if it is one alone.
    var name: String? {
        switch names {
        case .exactly(let name): name
        case .any, .oneOf, .prefix: nil
        }
    }

    /// The object, if it is one alone.
    var object: String? {
        switch objects {
        case .exactly(let object): object
        case .any, .prefix: nil
        }
    }

    /// Writes the members of a registration; what matches anything is null, or is left out.
    func write(_ writer: inout JSONWriter, _ bytes: inout [UInt8], omitsAny: Bool = false) {
        switch names {
        case .any: if !omitsAny { writer.member(null: "name", into: &bytes) }
        case .exactly(let name): writer.member("name", string: name, into: &bytes)
        case .oneOf(let names):
            writer.key("names", into: &bytes)
            writer.beginArray(into: &bytes)
            for name in names { writer.string(name, into: &bytes) }
            writer.endArray(into: &bytes)
        case .prefix(let prefix): writer.member("namePrefix", string: prefix, into: &bytes)
        }
        switch objects {
        case .any: if !omitsAny { writer.member(null: "object", into: &bytes) }
        case .exactly(let object): writer.member("object", string: object, into: &bytes)
        case .prefix(let prefix): writer.member("objectPrefix", string: prefix, into: &bytes)
        }
        if let condition { writer.member("where", raw: condition.json, into: &bytes) }
    }

    /// The parameters of an event stream.
    var query: [(name: String, value: String)] {
        let named: [(name: String, value: String)] =
            switch names {
            case .any: []
            case .exactly(let name): [("name", name)]
            case .oneOf(let names): names.map { ("name", $0) }
            case .prefix(let prefix): [("namePrefix", prefix)]
            }
        let placed: [(name: String, value: String)] =
            switch objects {
            case .any: []
            case .exactly(let object): [("object", object)]
            case .prefix(let prefix): [("objectPrefix", prefix)]
            }
        let conditions = condition.map { [("where", String(decoding: $0.json, as: UTF8.self))] }
        return named + placed + (conditions ?? [])
    }
}
