public import BelfryCenter
public import BelfryJSON

/// A write to the value of an object.
public struct ValueRequest: Sendable, Equatable {
    /// The object.
    public var object: [UInt8]
    /// The place in its value.
    public var path: DocumentPath
    /// The condition for the value that is there.
    public var condition: ValueCondition
    /// The change to make.
    public var change: Change

    /// The kinds of a write.
    public enum Change: Sendable, Equatable {
        /// The write puts a value in the place, for some time or for ever.
        case set(Document, ValueLifetime)
        /// The write applies a merge patch (RFC 7396).
        case merge(Document)
        /// The write removes the value.
        case remove
    }

    /// Joins the parts.
    public init(
        object: [UInt8], path: DocumentPath, condition: ValueCondition = ValueCondition(),
        change: Change
    ) {
        self.object = object
        self.path = path
        self.condition = condition
        self.change = change
    }
}

/// A request to read a place of the value of an object.
public struct ValuePlace: Sendable, Equatable {
    /// The object.
    public var object: [UInt8]
    /// The place in its value.
    public var path: DocumentPath

    /// Joins both.
    public init(object: [UInt8], path: DocumentPath) {
        self.object = object
        self.path = path
    }
}

extension DocumentPath {
    /// The name that the caller's grants must cover: the path, or for the whole all names (nil).
    public var coveredName: [UInt8]? { isWhole ? nil : text }
}
