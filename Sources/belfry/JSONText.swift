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
}

extension Settings {
    /// All effective values as one JSON object, which is a configuration file again.
    var json: [UInt8] {
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        for setting in Setting.all {
            writer.key(setting.name, into: &bytes)
            setting.show(self).append(to: &bytes, with: &writer)
        }
        writer.endObject(into: &bytes)
        return bytes
    }
}
