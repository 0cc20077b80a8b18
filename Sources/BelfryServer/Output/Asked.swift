/// The summary of a request for the log.
struct Asked: Sendable {
    var method = "none"
    /// The path as written in the contract.
    var route = "none"
    /// The connection, as a number that is unique at the time.
    var connection = "none"
}
