import BelfryBytes

/// A condition on userInfo, compiled.
///
/// Two are equal when their texts are. An object is true when all its members are, an array of
/// objects when one of them is. Each member is about the value at a key path: it is equal to a
/// scalar or to one of an array, or fulfils all operators of an object.
public struct JSONCondition: Sendable {
    /// The most bytes of a condition's text.
    public static let byteLimit = 4_096
    /// The most objects of which one must hold.
    public static let alternativeLimit = 16
    /// The most conditions in a whole text.
    ///
    /// A member with a scalar or an array counts as one, and so does each operator, `not` too.
    public static let conditionLimit = 32
    /// The most values in an array of which a member is one.
    public static let valueLimit = 64

    /// The text as it was sent, without outer blanks.
    public var text: [UInt8] { compiled.text }

    /// One object, so that a condition is copied by one count.
    private final class Compiled: Sendable {
        let text: [UInt8]
        let plan: JSONConditionPlan

        init(_ text: [UInt8], _ plan: JSONConditionPlan) {
            self.text = text
            self.plan = plan
        }
    }

    private let compiled: Compiled

    /// Compiles a text, which need not be valid JSON.
    ///
    /// - Throws: `JSONConditionError` for the first fault.
    public init(_ text: Span<UInt8>) throws(JSONConditionError) {
        var (start, end) = (0, text.count)
        while start < end, text[start].isJSONWhitespace { start += 1 }
        while start < end, text[end - 1].isJSONWhitespace { end -= 1 }
        let text = text.extracting(start..<end)
        compiled = Compiled([UInt8](copying: text), try JSONConditionReader.plan(of: text))
    }

    /// Whether a userInfo fulfils the condition.
    ///
    /// The members must have read this text before. A value that is absent or of another type makes
    /// an operator false.
    ///
    /// - Parameter work: grows by the bytes of values that were looked through; one that is
    ///   searched or unescaped counts nine times.
    /// - Complexity: for each condition linear in the value that it is about.
    public func isTrue(
        for members: borrowing JSONMembers, in userInfo: Span<UInt8>, work: inout Int
    ) -> Bool {
        compiled.plan.isTrue(for: members, in: userInfo, work: &work)
    }

    /// Whether a userInfo fulfils the condition, without a count of the work.
    public func isTrue(for members: borrowing JSONMembers, in userInfo: Span<UInt8>) -> Bool {
        var work = 0
        return isTrue(for: members, in: userInfo, work: &work)
    }

    /// Whether a userInfo fulfils the condition, which is the only one that is asked for.
    public func isTrue(in userInfo: Span<UInt8>?) -> Bool {
        var members = JSONMembers()
        members.read(userInfo)
        guard let userInfo else {
            let nothing: [UInt8] = []
            return isTrue(for: members, in: nothing.span)
        }
        return isTrue(for: members, in: userInfo)
    }

    /// The bytes of its blocks.
    public var footprint: Int {
        // The object has its own header and seven references to blocks.
        80 + JSONConditionPlan.block(of: compiled.text) + compiled.plan.footprint
    }
}

extension JSONCondition: Equatable {
    /// Whether both were compiled from the same text.
    public static func == (left: JSONCondition, right: JSONCondition) -> Bool {
        left.compiled === right.compiled || left.text == right.text
    }
}
