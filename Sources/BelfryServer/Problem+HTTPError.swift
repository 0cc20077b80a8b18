import BelfryHTTP
import BelfryWire

extension Problem {
    /// What the sender of a message that could not be read is told.
    init(_ error: HTTPError) {
        let kind: Kind =
            switch error.status {
            case 413: .contentTooLarge
            case 414: .uriTooLong
            case 431: .headerTooLarge
            case 501: .notImplemented
            case 505: .versionNotSupported
            default: .malformedRequest
            }
        self.init(kind, "The request cannot be read: \(error).")
    }
}
