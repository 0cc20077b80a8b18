import BelfryBytes
public import BelfryCenter

/// A post as far as its head determines it.
public struct PostTemplate: Sendable {
    /// The name and the object, one behind the other; empty where the content is a notification.
    let key: [UInt8]
    let nameByteCount: Int
    let objectByteCount: Int?
    /// How it is posted; nil for a plain post without options.
    public let options: PostOptions?

    /// Makes the template of a post whose content is a notification.
    public init() {
        self.init(key: [], nameByteCount: 0, objectByteCount: nil, options: nil)
    }

    /// Makes the template of a plain post without an object; nil for an invalid name.
    public init?(name: Span<UInt8>, limits: WireLimits) {
        guard TextRule.isPostable(name, limits: limits) else { return nil }
        self.init(
            key: [UInt8](copying: name), nameByteCount: name.count, objectByteCount: nil,
            options: nil)
    }

    /// Makes the template of a post that was read without a fault, and has its userInfo as content.
    ///
    /// It is nil for a post with a cause.
    public init?(of post: PostRequest) {
        guard post.causedBy == nil else { return nil }
        var key = [UInt8](copying: post.content.name)
        if let object = post.content.object { key.append(object) }
        self.init(
            key: key, nameByteCount: post.content.name.count,
            objectByteCount: post.content.object?.count, options: post.options)
    }

    private init(
        key: [UInt8], nameByteCount: Int, objectByteCount: Int?, options: PostOptions?
    ) {
        self.key = key
        self.nameByteCount = nameByteCount
        self.objectByteCount = objectByteCount
        self.options = options
    }
}
