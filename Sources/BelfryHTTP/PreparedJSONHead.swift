/// All of the usual answer's head but its length: `200 OK` with `application/json`.
///
/// It is as good as its date: make a new one when the second changes.
public struct PreparedJSONHead: Sendable {
    let bytes: [UInt8]

    /// Makes the head for a date, from `HTTPDate`.
    public init(date: Span<UInt8>) {
        var bytes = Array("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: ".utf8)
        bytes.append(date)
        bytes.append(contentsOf: "\r\nContent-Length: ".utf8)
        self.bytes = bytes
    }
}
