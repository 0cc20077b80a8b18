import BelfryBytes

@testable import BelfryCenter

/// The UTF-8 bytes of a text.
func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

extension Notification.Content {
    /// Copies of the parts: a span cannot go through `#expect`.
    var nameBytes: [UInt8] { [UInt8](copying: name) }
    var objectBytes: [UInt8]? {
        guard let object else { return nil }
        return [UInt8](copying: object)
    }
    var userInfoBytes: [UInt8]? {
        guard let userInfo else { return nil }
        return [UInt8](copying: userInfo)
    }
}
