/// The release that this program belongs to.
enum Release {
    /// The version, as metrics, the overview and `belfry version` show it.
    static let version = "0.1.0"
}
