/// A change of the whole cluster by an admin.
enum ClusterChange: Sendable {
    /// The rules of this program apply from now on.
    case upgrade
    /// All centers have the limits from the options of this broker.
    case applyConfiguration
}
