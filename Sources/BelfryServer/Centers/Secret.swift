/// The number of an observer, a client or a mode lease, with the secret half of its token, if any.
struct Secret: Sendable {
    let number: UInt64
    let secret: [UInt8]?
}
