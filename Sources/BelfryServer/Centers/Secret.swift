/// An observer, a client or a mode lease, named by its number, with the secret half of its token if there is one.
struct Secret: Sendable {
    let number: UInt64
    let secret: [UInt8]?
}
