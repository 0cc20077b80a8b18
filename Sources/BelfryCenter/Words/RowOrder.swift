/// An order of the rows of a listing; those that are equal in it stand by their numbers.
public enum RowOrder: String, Sendable, CaseIterable {
    /// By name, byte by byte; rows that are for any name come first.
    case name
    /// By object, byte by byte.
    case object
    /// The oldest first.
    case age
    /// The newest first; a channel by its last post, a value by its last change.
    case newest = "-age"
    /// For whom the most is held first.
    case held = "-held"
    /// What lost the most first.
    case dropped = "-dropped"
    /// What was delivered the most first.
    case delivered = "-delivered"
    /// What has the most observers first.
    case observers = "-observers"
    /// What was posted the most first.
    case posts = "-posts"
    /// What has the most bytes first.
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
