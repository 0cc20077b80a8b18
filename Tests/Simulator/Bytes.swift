import BelfryBytes
import BelfryCenter
import BelfryHistory

extension [UInt8] {
    init(_ text: String) { self = Array(text.utf8) }

    /// The text for the reader of a report.
    var shown: String { String(decoding: self, as: UTF8.self) }
}

extension Notification.Content {
    var nameBytes: [UInt8] { Array(copying: name) }

    var objectBytes: [UInt8]? {
        guard let object else { return nil }
        return Array(copying: object)
    }

    var userInfoBytes: [UInt8]? {
        guard let userInfo else { return nil }
        return Array(copying: userInfo)
    }
}
