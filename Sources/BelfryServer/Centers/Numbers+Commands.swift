import BelfryCenter
import BelfryWire

extension Numbers: NumberSource {
    /// A number that was never given.
    ///
    /// - Throws: 503 as long as the next ones are not stored.
    func next(_ kind: NumberedKind) throws(Problem) -> UInt64 {
        switch kind {
        case .observer: try observers.take()
        case .client: try clients.take()
        case .mode: try modes.take()
        }
    }
}
