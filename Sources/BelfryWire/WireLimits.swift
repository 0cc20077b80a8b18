/// The limits of what a request may hold (DESIGN section 6).
public struct WireLimits: Sendable, Equatable {
    /// The largest userInfo in bytes; the default is 256 KiB.
    ///
    /// A larger one is 413, a fault of any other limit is 422.
    public var userInfoByteLimit = 262_144
    /// How deep a userInfo nests, itself included, from 1 to 128; the default is 64.
    public var userInfoDepthLimit = 64
    /// Items of a batch, and calls of a JSON-RPC batch; the default is 1,000.
    public var batchItemLimit = 1_000
    /// Unicode scalars of a name or an object; the default is 255.
    public var nameScalarLimit = 255
    /// Bytes of a selector; the default is 128.
    public var selectorByteLimit = 128
    /// Faults that one answer tells; the default is 16.
    public var fieldErrorLimit = 16
    /// The longest page of a listing; the default is 1,000.
    public var pageRowLimit = 1_000

    /// Takes the defaults.
    public init() {}
}
