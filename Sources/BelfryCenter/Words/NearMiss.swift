/// An observer that would not get a notification, but nearly.
public struct NearMiss: Sendable, Equatable {
    /// The observer.
    public let observer: ObserverRow
    /// What differs.
    public let reason: Reason

    /// What differs.
    public enum Reason: Sendable, Equatable {
        /// The names are equal but for upper and lower case.
        case nameDiffersInCase
        /// The names look equal, and are different Unicode sequences.
        case nameDiffersInUnicodeForm
        /// The names are equal but for blanks, and upper and lower case.
        case nameDiffersInBlanks
        /// Somebody may have typed one name for the other: a few letters differ, or it is the plural.
        case nameDiffersInSpelling
        /// The names are equal, and the observer asks for another object.
        case objectDiffers
    }
}
