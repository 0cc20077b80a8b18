internal import BelfryJSON

/// A small JSON object whose members are looked up by name.
package struct JSONObject {
    /// The whole text.
    package let json: [UInt8]
    private var members: [(key: [UInt8], value: Range<Int>)] = []

    /// The deepest nesting of a message: a broker takes 128 levels at most (`--max-depth`).
    static let depthLimit = 144

    /// Takes the text, or gives `nil` when it is no object.
    package init?(_ json: [UInt8]) {
        self.json = json
        var reader = JSONReader(depthLimit: Self.depthLimit)
        do {
            try reader.beginObject(in: json.span)
            while try reader.nextMember(in: json.span) {
                let key = reader.key
                members.append((key, try reader.skipValue(in: json.span)))
            }
            try reader.finish(in: json.span)
        } catch {
            return nil
        }
    }

    /// Whether a broker takes these bytes as JSON, of any kind.
    static func isJSON(_ json: [UInt8]) -> Bool {
        var reader = JSONReader(depthLimit: depthLimit)
        do {
            _ = try reader.skipValue(in: json.span)
            try reader.finish(in: json.span)
            return true
        } catch {
            return false
        }
    }

    /// The JSON text of a member.
    package func raw(_ name: String) -> [UInt8]? {
        members.first { $0.key.elementsEqual(name.utf8) }.map { Array(json[$0.value]) }
    }

    /// A member that is a string.
    package func string(_ name: String) -> String? {
        guard let value = raw(name) else { return nil }
        var reader = JSONReader()
        return (try? reader.readString(in: value.span)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A member that is an integer.
    package func integer(_ name: String) -> Int? {
        guard let value = raw(name) else { return nil }
        var reader = JSONReader()
        return try? reader.readInt(in: value.span)
    }

    /// A member that is a number of seconds.
    package func seconds(_ name: String) -> Duration? {
        guard let value = raw(name) else { return nil }
        var reader = JSONReader()
        return (try? reader.readDouble(in: value.span)).map { .seconds($0) }
    }

    /// The objects of a member that is an array.
    package func objects(_ name: String) -> [JSONObject] {
        elements(name).compactMap(JSONObject.init)
    }

    /// The strings of a member that is an array.
    package func strings(_ name: String) -> [String] {
        elements(name).compactMap { element in
            var reader = JSONReader()
            return (try? reader.readString(in: element.span)).map {
                String(decoding: $0, as: UTF8.self)
            }
        }
    }

    /// The texts of the elements of a member that is an array.
    package func elements(_ name: String) -> [[UInt8]] {
        guard let array = raw(name) else { return [] }
        var elements: [[UInt8]] = []
        var reader = JSONReader()
        do throws(JSONError) {
            try reader.beginArray(in: array.span)
            while try reader.nextElement(in: array.span) {
                elements.append(Array(array[try reader.skipValue(in: array.span)]))
            }
        } catch {
            // The array is a member of an object that was validated: the member is no array.
            return elements
        }
        return elements
    }
}
