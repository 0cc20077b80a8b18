/// The facts about its request and its connection that a response needs.
public struct ResponseContext: Sendable, Equatable {
    /// The minor version of the request.
    public var minorVersion: UInt8
    /// True when the connection stays open after the response.
    public var keepsAlive: Bool
    /// True when the request was a HEAD: the response has a length but no content.
    public var isHead: Bool

    /// Makes a context out of its three facts.
    public init(minorVersion: UInt8, keepsAlive: Bool, isHead: Bool) {
        self.minorVersion = minorVersion
        self.keepsAlive = keepsAlive
        self.isHead = isHead
    }

    /// For the answer to a request that could not be read: it closes the connection.
    public static var closing: ResponseContext {
        ResponseContext(minorVersion: 1, keepsAlive: false, isHead: false)
    }
}
