import BelfryJSON

/// A value of an option as JSON.
enum JSONText {
    case null
    case boolean(Bool)
    case integer(Int)
    case text(String)
    case texts([String])
    case grants(GrantList)

    /// Appends the value.
    func append(to bytes: inout [UInt8], with writer: inout JSONWriter) {
        switch self {
        case .null: writer.null(into: &bytes)
        case .boolean(let value): writer.bool(value, into: &bytes)
        case .integer(let value): writer.integer(value, into: &bytes)
        case .text(let value): writer.string(value, into: &bytes)
        case .texts(let values):
            writer.beginArray(into: &bytes)
            for value in values { writer.string(value, into: &bytes) }
            writer.endArray(into: &bytes)
        case .grants(let grants): grants.append(to: &bytes, with: &writer)
        }
    }

    /// The value as JSON by itself.
    var json: String {
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        append(to: &bytes, with: &writer)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value as a person would write it in an option.
    var words: String {
        switch self {
        case .null: Self.noneWord
        case .boolean(let value): value ? "on" : "off"
        case .integer(let value): "\(value)"
        case .text(let value): value
        case .texts(let values): values.isEmpty ? Self.noneWord : values.joined(separator: ",")
        case .grants: json
        }
    }

    /// The word for no value.
    static let noneWord = "none"
}
