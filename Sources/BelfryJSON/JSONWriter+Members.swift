// A key that needs no escapes and its value in one call.
extension JSONWriter {
    /// Writes a member with a string of UTF-8 text.
    public mutating func member(
        _ key: String, string text: [UInt8], into bytes: inout [UInt8]
    ) {
        self.key(key, into: &bytes)
        string(text, into: &bytes)
    }

    /// Writes a member with a string.
    public mutating func member(_ key: String, string text: String, into bytes: inout [UInt8]) {
        self.key(key, into: &bytes)
        string(text, into: &bytes)
    }

    /// Writes a member with an integer.
    public mutating func member(_ key: String, integer value: Int, into bytes: inout [UInt8]) {
        self.key(key, into: &bytes)
        integer(value, into: &bytes)
    }

    /// Writes a member with an integer.
    public mutating func member(_ key: String, integer value: UInt64, into bytes: inout [UInt8]) {
        self.key(key, into: &bytes)
        integer(value, into: &bytes)
    }

    /// Writes a member with the shortest number that reads back as `value`, which is finite.
    public mutating func member(_ key: String, double value: Double, into bytes: inout [UInt8]) {
        self.key(key, into: &bytes)
        double(value, into: &bytes)
    }

    /// Writes a member with a duration in seconds.
    public mutating func member(
        _ key: String, seconds duration: Duration, into bytes: inout [UInt8]
    ) {
        self.key(key, into: &bytes)
        seconds(duration, into: &bytes)
    }

    /// Writes a member with `true` or `false`.
    public mutating func member(_ key: String, bool value: Bool, into bytes: inout [UInt8]) {
        self.key(key, into: &bytes)
        bool(value, into: &bytes)
    }

    /// Writes a member with `null`.
    public mutating func member(null key: String, into bytes: inout [UInt8]) {
        self.key(key, into: &bytes)
        null(into: &bytes)
    }

    /// Writes a member with one value that is JSON already, as it is.
    public mutating func member(_ key: String, raw json: [UInt8], into bytes: inout [UInt8]) {
        self.key(key, into: &bytes)
        raw(json, into: &bytes)
    }
}
