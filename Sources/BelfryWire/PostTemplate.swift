import BelfryBytes
import BelfryCenter

/// All of a post but its userInfo: what several posts with the same path and query share.
public struct PostTemplate: Sendable {
    let name: [UInt8]
    let object: [UInt8]?
    let options: PostOptions?

    /// Takes over what a post has, which was read without a fault; nil for one that names a cause.
    public init?(of post: PostRequest) {
        guard post.causedBy == nil else { return nil }
        name = Self.copy(post.content.name)
        if let bytes = post.content.object { object = Self.copy(bytes) } else { object = nil }
        options = post.options
    }

    private static func copy(_ bytes: Span<UInt8>) -> [UInt8] {
        var copy: [UInt8] = []
        copy.append(bytes)
        return copy
    }
}
