/// An observer of a changed place, and the form of the change that it gets.
struct ChangeMatch {
    let serial: UInt64
    let slot: UInt32
    let form: UInt32
}
