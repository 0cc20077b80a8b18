/// An encoded answer that is kept until its promise is stored.
struct ParkedAnswer {
    let bytes: [UInt8]
    let reply: Reply
    let sequel: Sequel
}
