import BelfryCenter
import BelfryWire

/// What somebody reads of a value, and what of it is no news to him.
struct ValueLook: Sendable {
    let place: ValuePlace
    let condition: ValueCondition
}
