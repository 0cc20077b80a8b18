/// What a request asked for, as the log tells it.
struct Asked: Sendable {
    var method = "none"
    /// The path as the contract writes it.
    var route = "none"
    /// The connection, as a number that no other one has at the same time.
    var connection = "none"
}
