import BelfryCenter
import BelfryWire

extension Numbers: NumberSource {
    /// Takes a number that was never given.
    ///
    /// - Throws: 503 until the next numbers are stored.
    func next(_ kind: NumberedKind) throws(Problem) -> UInt64 {
        switch kind {
        case .observer: try observers.take()
        case .client: try clients.take()
        case .mode: try modes.take()
        }
    }
}
