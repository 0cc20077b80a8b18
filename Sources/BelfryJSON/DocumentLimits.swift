/// How large and how deep a document may be (Protocol.md section 11).
public struct DocumentLimits: Sendable, Equatable {
    /// The greatest count of canonical bytes; the default is 256 KiB.
    public var byteLimit: Int
    /// The deepest nesting, the outermost value at depth 1, from 1 to 128; the default is 16.
    public var depthLimit: Int

    /// Takes the limits of values.
    public init(byteLimit: Int = 262_144, depthLimit: Int = 16) {
        self.byteLimit = byteLimit
        self.depthLimit = depthLimit
    }
}
