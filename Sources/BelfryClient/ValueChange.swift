internal import BelfryJSON

/// A change of a value as an observer of its key path gets it (Protocol.md, "Values").
public struct ValueChange: Equatable, Sendable {
    /// The kind of a change at the path of the observer, however it was written.
    public enum Kind: String, Sendable {
        /// The value is another one, and there was none before, or one of both is no object.
        case set
        /// An object was and is there; members of it changed.
        case merge
        /// The value is gone.
        case removed
    }

    /// The kind of the change.
    public let kind: Kind
    /// Whether it is the value at the registration, or after changes that were lost.
    public let isInitial: Bool
    /// The merge patch that led here, as JSON text (RFC 7396), if it is a merge.
    public let patch: String?
    /// The old value as JSON text, or the merge patch back to it, if the observer asked for it.
    public let old: String?
    /// The frame, with its number in the sequence of the center, and the gap before it.
    public let notification: ReceivedNotification

    /// The whole value as it is now, as JSON text; nil when there is none.
    ///
    /// - Complexity: The text is written each time.
    public var value: String? {
        notification.value.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    init(_ notification: ReceivedNotification) throws(ClientError) {
        let frame = try ChangeFrame(of: notification)
        kind = frame.kind
        isInitial = frame.isInitial
        patch = frame.kind == .merge ? frame.new.map { String(decoding: $0, as: UTF8.self) } : nil
        old = frame.old.map { String(decoding: $0, as: UTF8.self) }
        self.notification = notification
    }
}

/// The member `change` of a frame.
struct ChangeFrame {
    let kind: ValueChange.Kind
    let isInitial: Bool
    let new: [UInt8]?
    let old: [UInt8]?

    init(of notification: ReceivedNotification) throws(ClientError) {
        guard let change = JSONObject(notification.json)?.raw("change").flatMap(JSONObject.init),
            let kind = change.string("kind").flatMap(ValueChange.Kind.init)
        else { throw .notUnderstood }
        self.kind = kind
        isInitial = change.raw("initial").map { $0.elementsEqual("true".utf8) } ?? false
        new = change.raw("new")
        old = change.raw("old")
    }
}

/// The value of an observer, kept whole out of its changes.
struct FollowedValue {
    /// Whether a first change has come.
    private var isKnown = false
    private var value: Document?

    /// Applies a change.
    ///
    /// - Returns: the value now, or nil when the frame only repeats it.
    /// - Throws: `ClientError.notUnderstood` for a merge into a value that is no object.
    mutating func apply(_ frame: ChangeFrame) throws(ClientError) -> Document?? {
        let after: Document?
        do {
            after = try value(after: frame)
        } catch {
            throw .notUnderstood
        }
        if frame.isInitial, isKnown, after == value { return nil }
        (isKnown, value) = (true, after)
        return .some(after)
    }

    private func value(after frame: ChangeFrame) throws -> Document? {
        switch (frame.kind, frame.new) {
        case (.removed, _):
            return nil
        case (.set, let new?):
            return try Document.parse(new.span, limits: ValueWrite.limits)
        case (.merge, let new?):
            let patch = try Document.parsePatch(new.span, limits: ValueWrite.limits)
            // A value that is no object becomes one (RFC 7396 section 2).
            let object = value.flatMap { $0.isObject ? $0 : nil }
            var merged = object ?? .empty
            try merged.merge(patch, limits: ValueWrite.limits)
            return merged
        case (.set, nil), (.merge, nil):
            throw ClientError.notUnderstood
        }
    }
}
