import BelfryBytes
public import BelfryCenter

/// What the head of a post says of it; its content says the rest.
public struct PostTemplate: Sendable {
    /// The name and the object, one behind the other; empty where the content is a notification.
    let key: [UInt8]
    let nameByteCount: Int
    let objectByteCount: Int?
    /// How it is posted; nil for a plain post without options.
    public let options: PostOptions?

    /// Of a post whose content is a notification.
    public init() {
        self.init(key: [], nameByteCount: 0, objectByteCount: nil, options: nil)
    }

    /// Of a plain post without an object; nil where something is wrong with the name.
    public init?(name: Span<UInt8>, limits: WireLimits) {
        guard TextRule.isPostable(name, limits: limits) else { return nil }
        self.init(
            key: [UInt8](copying: name), nameByteCount: name.count, objectByteCount: nil,
            options: nil)
    }

    /// Of a post that was read without a fault, and whose content is its userInfo; nil for one that names a cause.
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
