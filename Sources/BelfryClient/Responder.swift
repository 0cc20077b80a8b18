/// A registration by which this client answers asks, and the token that removes it.
public struct Responder: Sendable {
    /// The public half of the token, such as `o17`, as of the first registration.
    public let id: String
    /// The secret that removes it from anywhere.
    public let token: String
    /// The address that it holds.
    public let object: String

    let desk: ResponderDesk
    let removal: @Sendable () async throws(ClientError) -> Void

    /// Gives the address up: its handlers are cancelled, and open asks go to other responders.
    ///
    /// A second removal is no error.
    /// - Throws: `ClientError` when the broker did not answer; the handlers are cancelled all the
    ///   same.
    public func remove() async throws(ClientError) {
        try await removal()
    }

    /// Waits until it is removed, or until this task is cancelled.
    ///
    /// - Throws: `ClientError` when the broker removed it, as when another one took its place, and
    ///   when the connection is lost for good.
    public func waitUntilRemoved() async throws(ClientError) {
        try await desk.waitForEnd()
    }
}
