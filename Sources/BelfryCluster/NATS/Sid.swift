/// The subscriptions of a connection.
enum Sid: UInt64 {
    case pushes = 1
    case beats, answers
}
