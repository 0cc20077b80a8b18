internal import BelfryJSON

// The queue of the center, and the modes that it waits in.
extension RemoteCenter {
    /// Removes notifications from the queue before they are posted.
    ///
    /// - Parameters:
    ///   - name: the notification name.
    ///   - object: the object; `nil` with `onSender` in `coalescing` means those without one.
    ///   - coalescing: the properties that are compared; by default those that are given.
    /// - Returns: how many were removed.
    /// - Throws: `ClientError`.
    @discardableResult
    public func dequeue(
        name: String?, object: String?, coalescing: Coalescing? = nil
    ) async throws(ClientError) -> Int {
        try await dequeue(
            RPCRequest.params { writer, bytes in
                if let name { writer.member("name", string: name, into: &bytes) }
                if let object { writer.member("object", string: object, into: &bytes) }
                coalescing?.write(&writer, &bytes)
            })
    }

    /// Removes the notification with this id from the queue.
    ///
    /// - Returns: whether it was there.
    /// - Throws: `ClientError`.
    @discardableResult
    public func dequeue(id: String) async throws(ClientError) -> Bool {
        try await dequeue(
            RPCRequest.params { writer, bytes in
                writer.member("id", string: id, into: &bytes)
            }) > 0
    }

    private func dequeue(_ params: [UInt8]) async throws(ClientError) -> Int {
        let answer = try await submit { .call(method: "dequeue", params: params, $0) }
        guard let count = JSONObject(answer)?.integer("removed") else { throw .notUnderstood }
        return count
    }

    /// Puts the center in a mode: until it is left, the queue posts only what may leave it there.
    ///
    /// The broker leaves it at the end of this connection, and a new one does not enter it again.
    /// - Throws: `ClientError`.
    public func enterMode(_ mode: String) async throws(ClientError) -> ModeLease {
        let params = RPCRequest.params { writer, bytes in
            writer.member("mode", string: mode, into: &bytes)
        }
        let answer = JSONObject(
            try await submit { .call(method: "enterMode", params: params, $0) })
        guard let answer, let id = answer.string("id"), let token = answer.string("token") else {
            throw .notUnderstood
        }
        return ModeLease(id: id, mode: mode, token: token)
    }

    /// Removes a mode from the stack, at whatever place it is.
    ///
    /// - Throws: `ClientError`; `refused` when it was left already.
    public func leaveMode(_ lease: ModeLease) async throws(ClientError) {
        let params = RPCRequest.params { writer, bytes in
            writer.member("token", string: lease.token, into: &bytes)
        }
        _ = try await finish { .call(method: "leaveMode", params: params, $0) }
    }
}

/// A mode that a client has entered, and what leaves it.
public struct ModeLease: Equatable, Sendable {
    /// The public half of the token, such as `m3`.
    public let id: String
    /// The mode.
    public let mode: String
    /// The secret that leaves the mode from anywhere.
    public let token: String
}
