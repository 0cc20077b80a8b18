/// The limits of a request (Protocol.md section 11), and the defaults of absent fields.
public struct WireLimits: Sendable, Equatable {
    /// The largest userInfo in bytes; the default is 256 KiB.
    ///
    /// A larger one is 413, a fault of any other limit is 422.
    public var userInfoByteLimit = 262_144
    /// How deep a userInfo nests, itself included, from 1 to 128; the default is 64.
    public var userInfoDepthLimit = 64
    /// Items of a batch, and calls of a JSON-RPC batch; the default is 1,000.
    public var batchItemLimit = 1_000
    /// Unicode scalars of a name, an object or a mode; the default is 255.
    public var nameScalarLimit = 255
    /// Names of a set.
    public static let nameCountLimit = 32
    /// Bytes of a selector; the default is 128.
    public var selectorByteLimit = 128
    /// The sequence numbers that every JSON reader keeps (RFC 8259 §6).
    static let sequences = 0...9_007_199_254_740_991
    /// Selectors that a responder implements; the default is 64.
    public var selectorCountLimit = 64
    /// The largest answer to an ask in bytes; the default is 256 KiB.
    ///
    /// A larger one, and one that nests too deep, counts as a refusal.
    public var answerByteLimit = 262_144
    /// How deep an answer to an ask nests, itself included, from 1 to 128; the default is 64.
    public var answerDepthLimit = 64
    /// The largest `default` of an ask in bytes; the default is 16 KiB.
    ///
    /// A larger one is 413.
    public var fallbackByteLimit = 16_384
    /// Canonical bytes of a value; the default is 256 KiB.
    ///
    /// A larger one is 413.
    public var documentByteLimit = 262_144
    /// How deep a value nests, with the keys of its place, from 1 to 128; the default is 16.
    public var documentDepthLimit = 16
    /// Faults that one answer tells; the default is 16.
    public var fieldErrorLimit = 16
    /// The longest page of a listing; the default is 1,000.
    public var pageRowLimit = 1_000
    /// Modes of a post; the default is 16.
    public var modeCountLimit = 16
    /// Bytes of an idempotency key; the default is 255.
    public var idempotencyKeyByteLimit = 255
    /// The greatest `holdLimit` that an observer may ask for; the default is 10,000.
    public var greatestHoldLimit = 10_000
    /// The `holdLimit` of an observer that asks for none; the default is 1,000.
    public var defaultHoldLimit = 1_000
    /// The lease of an observer that asks for none; the default is 1 h.
    public var defaultLease: Duration = .seconds(3_600)
    /// The lease of a mailbox's observer that asks for none; the default is 24 h.
    public var mailboxLease: Duration = .seconds(86_400)
    /// The longest lease; the default is 30 days.
    ///
    /// A longer one is lowered to it.
    public var leaseLimit: Duration = .seconds(2_592_000)

    /// Takes the defaults.
    public init() {}
}
