/// An order of the rows of a listing; equal rows are in the order of their numbers.
public enum RowOrder: String, Sendable, CaseIterable {
    /// By name, byte by byte; rows that are for any name come first.
    case name
    /// By object, byte by byte.
    case object
    /// The oldest first.
    case age
    /// The newest first; a channel by its last post, a value by its last change.
    case newest = "-age"
    /// The rows with the most held notifications first.
    case held = "-held"
    /// The rows with the most losses first.
    case dropped = "-dropped"
    /// The rows with the most deliveries first.
    case delivered = "-delivered"
    /// The rows with the most observers first.
    case observers = "-observers"
    /// The rows with the most posts first.
    case posts = "-posts"
    /// The rows with the most bytes first.
    case bytes = "-bytes"

    /// The orders that observers have.
    public static let ofObservers: [RowOrder] = [
        .name, .age, .newest, .held, .dropped, .delivered,
    ]
    /// The orders that clients have: their name is the principal.
    public static let ofClients: [RowOrder] = [.name, .age, .newest, .held, .observers]
    /// The orders that channels have.
    public static let ofChannels: [RowOrder] = [.name, .newest, .observers, .posts]
    /// The orders that responders have.
    public static let ofResponders: [RowOrder] = [.object, .age, .newest, .held]
    /// The orders that open asks have.
    public static let ofAsks: [RowOrder] = [.object, .age, .newest]
    /// The orders that values have.
    public static let ofValues: [RowOrder] = [.object, .newest, .observers, .bytes]
    /// The orders that entries of the queue and timers have.
    public static let ofQueue: [RowOrder] = [.name, .age, .newest]
}
