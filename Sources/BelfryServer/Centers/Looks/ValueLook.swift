import BelfryCenter
import BelfryWire

/// The place of a value to read, and the condition under which the reader knows it already.
struct ValueLook: Sendable {
    let place: ValuePlace
    let condition: ValueCondition
}
