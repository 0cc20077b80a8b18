import BelfryJSON

/// The file of `--config`: one JSON object whose keys are option names.
///
/// Lines that begin with `//` are comments. Each value is turned into the text that the flag would
/// have: a number and a boolean as they are, an array of strings with commas, grants as their JSON.
/// `null` counts as absent.
enum ConfigurationFile {
    /// A fault of the file.
    enum Fault: Error, Equatable {
        /// The file is not a JSON object; the offset is in bytes, if it is known.
        case malformed(offset: Int?)
        /// The option of this name does not exist.
        case unknownKey(String)
        /// The key comes twice.
        case repeatedKey(String)
        /// No option takes a value of this kind.
        case wrongValue(key: String)

        private static func unknown(_ key: String) -> String {
            let hint = Setting.near(key).map { " Do you mean `\($0.name)`?" } ?? ""
            return "The file has the key `\(key)`, which is not an option.\(hint)"
        }

        /// A sentence for the author of the file.
        var text: String {
            switch self {
            case .malformed(let offset?):
                "The file is not a JSON object: unexpected byte at offset \(offset)."
            case .malformed(nil): "The file is not a JSON object."
            case .unknownKey(let key): Self.unknown(key)
            case .repeatedKey(let key): "The file has the key `\(key)` twice."
            case .wrongValue(let key):
                "The value of `\(key)` must be text, a number, true, false, null or an array of "
                    + "texts."
            }
        }
    }

    /// The texts of the options that the file sets, by their names.
    static func read(_ file: [UInt8]) throws(Fault) -> [String: String] {
        let json = withoutComments(file)
        var texts: [String: String] = [:]
        var keys: Set<String> = []
        do {
            var reader = JSONReader()
            try reader.beginObject(in: json.span)
            while try reader.nextMember(in: json.span) {
                let key = String(decoding: reader.key, as: UTF8.self)
                guard Setting.named(key) != nil else { throw Fault.unknownKey(key) }
                guard keys.insert(key).inserted else { throw Fault.repeatedKey(key) }
                if let text = try value(key, json, &reader) { texts[key] = text }
            }
            try reader.finish(in: json.span)
        } catch let fault as Fault {
            throw fault
        } catch let error as JSONError {
            throw .malformed(offset: error.offset)
        } catch {
            throw .malformed(offset: nil)
        }
        return texts
    }

    /// The file with blanks in the place of its comments, so that offsets stay true.
    ///
    /// A string of JSON has no line ends, so no line within one begins here.
    static func withoutComments(_ file: [UInt8]) -> [UInt8] {
        var json = file
        var start = 0
        for line in file.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let end = start + line.count
            let text = line.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
            if text.starts(with: "//".utf8) {
                for place in start..<end { json[place] = UInt8(ascii: " ") }
            }
            start = end + 1
        }
        return json
    }

    private static func value(
        _ key: String, _ json: [UInt8], _ reader: inout JSONReader
    ) throws -> String? {
        switch try reader.peekKind(in: json.span) {
        case .null:
            _ = try reader.skipValue(in: json.span)
            return nil
        case .string:
            return String(decoding: try reader.readString(in: json.span), as: UTF8.self)
        case .number, .boolean:
            return String(decoding: json[try reader.skipValue(in: json.span)], as: UTF8.self)
        case .object:
            throw Fault.wrongValue(key: key)
        case .array:
            let range = try reader.skipValue(in: json.span)
            return try array(key, Array(json[range]))
        }
    }

    private static func array(_ key: String, _ json: [UInt8]) throws -> String {
        var reader = JSONReader()
        var words: [String] = []
        try reader.beginArray(in: json.span)
        while try reader.nextElement(in: json.span) {
            guard try reader.peekKind(in: json.span) == .string else {
                // Only grants and archives are more than words, and they are read as JSON.
                guard key == "anonymous-grants" || key == "archives" else {
                    throw Fault.wrongValue(key: key)
                }
                return String(decoding: json, as: UTF8.self)
            }
            words.append(String(decoding: try reader.readString(in: json.span), as: UTF8.self))
        }
        return words.joined(separator: ",")
    }
}
