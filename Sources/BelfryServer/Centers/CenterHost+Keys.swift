import BelfryCenter

extension CenterHost {
    /// The key of a `post` over JSON-RPC: its params are the request.
    static func key(
        _ text: [UInt8], params: Range<Int>?, in message: [UInt8]
    ) -> (text: [UInt8], requestHash: SecretHash) {
        let request = Array("post\n".utf8) + message[params ?? 0..<0]
        return (text, SecretHash(of: request))
    }
}
