import BelfryAccess
import BelfryJSON

/// The grants of callers in an option: a list of verbs, or JSON (Access.md section 1).
struct GrantList: Equatable {
    struct Row: Equatable {
        var verbs: [String] = []
        var names = ["*"]
        var objects = ["*"]
        var centers = ["*"]
        /// The condition on the userInfo.
        var condition: JSONCondition?
    }

    /// A fault in the text of grants.
    enum Fault: Error, Equatable {
        /// The verb of this name does not exist.
        case unknownVerb(String)
        /// A grant has no member of this name.
        case unknownMember(String)
        /// The condition of a grant is malformed, for this reason.
        case malformedCondition(String)
        /// A grant with a condition has verbs that go with none, or is one too many.
        case misplacedCondition
        /// The JSON is no array of grants, or a grant has no verbs.
        case malformed
    }

    let rows: [Row]

    init(_ rows: [Row]) {
        self.rows = rows
    }

    /// Reads `post,observe`, or `[{"verbs":["observe"],"names":["Mail*"]}]`; no text is no grant.
    init(_ text: String) throws(Fault) {
        let bytes = Array(text.utf8)
        if bytes.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "[") {
            rows = try Self.rows(json: bytes)
        } else {
            let verbs = Words.split(text)
            for verb in verbs where Self.verb(verb) == nil { throw .unknownVerb(verb) }
            rows = verbs.isEmpty ? [] : [Row(verbs: verbs)]
        }
    }

    /// The grants that the server checks.
    var grants: Grants {
        Grants(
            rows.map { row in
                Grant(
                    row.verbs.compactMap(Self.verb).reduce(into: Verbs()) { $0.formUnion($1) },
                    names: row.names.map(Pattern.init), objects: row.objects.map(Pattern.init),
                    centers: row.centers.map(Pattern.init), condition: row.condition)
            })
    }

    /// Appends the grants as JSON.
    func append(to bytes: inout [UInt8], with writer: inout JSONWriter) {
        writer.beginArray(into: &bytes)
        for row in rows {
            writer.beginObject(into: &bytes)
            let members = [
                ("verbs", row.verbs), ("names", row.names), ("objects", row.objects),
                ("centers", row.centers),
            ]
            for (key, texts) in members {
                writer.key(key, into: &bytes)
                writer.beginArray(into: &bytes)
                for text in texts { writer.string(text, into: &bytes) }
                writer.endArray(into: &bytes)
            }
            if let condition = row.condition {
                writer.key("where", into: &bytes)
                writer.raw(condition.text, into: &bytes)
            }
            writer.endObject(into: &bytes)
        }
        writer.endArray(into: &bytes)
    }

    private static func verb(_ name: String) -> Verbs? {
        Verbs.names.first { $0.name.utf8.elementsEqual(name.utf8) }?.verb
    }

    private static func rows(json: [UInt8]) throws(Fault) -> [Row] {
        do {
            var rows: [Row] = []
            var reader = JSONReader()
            try reader.beginArray(in: json.span)
            while try reader.nextElement(in: json.span) {
                rows.append(try row(json, &reader))
                guard rows.count(where: { $0.condition != nil }) <= Grants.conditionLimit else {
                    throw Fault.misplacedCondition
                }
            }
            try reader.finish(in: json.span)
            return rows
        } catch let fault as Fault {
            throw fault
        } catch {
            throw .malformed
        }
    }

    private static func row(_ json: [UInt8], _ reader: inout JSONReader) throws -> Row {
        var row = Row()
        try reader.beginObject(in: json.span)
        while try reader.nextMember(in: json.span) {
            let key = String(decoding: reader.key, as: UTF8.self)
            let path: WritableKeyPath<Row, [String]>
            switch key {
            case "verbs": path = \.verbs
            case "names": path = \.names
            case "objects": path = \.objects
            case "centers": path = \.centers
            case "where":
                row.condition = try condition(json, &reader)
                continue
            default: throw Fault.unknownMember(key)
            }
            row[keyPath: path] = try texts(json, &reader)
        }
        guard !row.verbs.isEmpty else { throw Fault.malformed }
        for verb in row.verbs where Self.verb(verb) == nil { throw Fault.unknownVerb(verb) }
        if row.condition != nil {
            for verb in row.verbs.compactMap(Self.verb) where !verb.isSubset(of: .conditional) {
                throw Fault.misplacedCondition
            }
        }
        return row
    }

    private static func condition(
        _ json: [UInt8], _ reader: inout JSONReader
    ) throws -> JSONCondition {
        let range = try reader.skipValue(in: json.span)
        do throws(JSONConditionError) {
            return try JSONCondition(json.span.extracting(range))
        } catch {
            throw Fault.malformedCondition("where\(error.pointer) \(error.message)")
        }
    }

    private static func texts(_ json: [UInt8], _ reader: inout JSONReader) throws -> [String] {
        var texts: [String] = []
        try reader.beginArray(in: json.span)
        while try reader.nextElement(in: json.span) {
            texts.append(String(decoding: try reader.readString(in: json.span), as: UTF8.self))
        }
        return texts
    }
}

extension GrantList.Fault {
    /// A sentence for the author of the grants.
    var text: String {
        switch self {
        case .unknownVerb(let verb):
            """
            `\(verb)` is not a verb. The verbs are \
            \(Verbs.names.map(\.name).joined(separator: ", ")).
            """
        case .unknownMember(let member):
            "A grant has verbs, names, objects, centers and where; `\(member)` is not one of them."
        case .malformedCondition(let reason): "The condition of a grant is malformed: \(reason)."
        case .misplacedCondition:
            """
            At most \(Grants.conditionLimit) grants may have `where`, which goes with \
            \(Verbs.conditional.text) alone.
            """
        case .malformed:
            #"Grants are a list such as post,observe, or JSON such as [{"verbs":["post"]}]."#
        }
    }
}

/// Lists in one text.
enum Words {
    /// The texts between commas, without the spaces around them; empty ones are left out.
    static func split(_ text: String) -> [String] {
        text.split(separator: ",").map { part in
            let start = part.drop { $0 == " " }
            return String(start.reversed().drop { $0 == " " }.reversed())
        }.filter { !$0.isEmpty }
    }
}
