/// An observer that nearly matches a notification.
public struct NearMiss: Sendable, Equatable {
    /// The observer.
    public let observer: ObserverRow
    /// The difference.
    public let reason: Reason

    /// The difference between a notification and an observer.
    public enum Reason: Sendable, Equatable {
        /// The names are equal but for upper and lower case.
        case nameDiffersInCase
        /// The names look equal, but are different Unicode sequences.
        case nameDiffersInUnicodeForm
        /// The names are equal but for blanks, and upper and lower case.
        case nameDiffersInBlanks
        /// One name may be a typing error for the other: a few letters differ, or it is the plural.
        case nameDiffersInSpelling
        /// The names are equal, and the observer asks for another object.
        case objectDiffers
        /// Name and object match, and the userInfo does not fulfil the condition.
        case whereFalse
    }
}
