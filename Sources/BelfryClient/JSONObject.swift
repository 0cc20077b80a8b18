internal import BelfryJSON

/// A small JSON object whose members are looked up by name.
package struct JSONObject {
    package let json: [UInt8]
    private var members: [(key: [UInt8], value: Range<Int>)] = []

    /// Takes the text, or gives `nil` when it is no object.
    package init?(_ json: [UInt8]) {
        self.json = json
        var reader = JSONReader(depthLimit: UserInfo.depthLimit + 8)
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
}
