internal import BelfryJSON

/// The member `present` of an ask: a page shows it to the person who answers.
///
/// The broker hands it on as it is, and knows only its form.
enum PresentFields {
    /// The most bytes of it.
    static let byteLimit = 8_192
    private static let choiceCounts = 1...8

    private enum Key: String, CaseIterable { case title, message, choices }
    private enum ChoiceKey: String, CaseIterable { case label, value }
    private static let table = FieldTable(Key.allCases)
    private static let choiceTable = FieldTable(
        ChoiceKey.allCases, required: ChoiceKey.allCases, takingNull: [.value])

    /// The fault of a JSON text, with its place within the text; nil where there is none.
    static func fault(
        of json: Span<UInt8>, limits: WireLimits
    ) throws(Problem) -> (place: String, detail: String)? {
        if json.count > byteLimit { return ("", "must have at most \(byteLimit) bytes") }
        var fields = FieldReader(limits: limits)
        var choices: Range<Int>?
        if try fields.beginObject(in: json) {
            while let key = try fields.nextKey(of: table, in: json) {
                switch key {
                case .title, .message: _ = try fields.string(in: json)
                case .choices: choices = try fields.skip(in: json)
                }
            }
        }
        if let fault = first(of: fields, in: "") { return fault }
        return try choices.flatMap { (range) throws(Problem) in
            try fault(ofChoices: json.extracting(range), limits: limits)
        }
    }

    private static func fault(
        ofChoices json: Span<UInt8>, limits: WireLimits
    ) throws(Problem) -> (place: String, detail: String)? {
        var fields = FieldReader(limits: limits)
        var count = 0
        guard try fields.kind(in: json) == .array else { return ("/choices", "must be an array") }
        try fields.readObjects(in: json) { (fields, json) throws(Problem) in
            count += 1
            while let key = try fields.nextKey(of: choiceTable, in: json) {
                switch key {
                case .label: _ = try fields.string(in: json)
                case .value: _ = try fields.skip(in: json)
                }
            }
        }
        if let fault = first(of: fields, in: "/choices") { return fault }
        if choiceCounts.contains(count) { return nil }
        return (
            "/choices",
            "must have \(choiceCounts.lowerBound) to \(choiceCounts.upperBound) choices"
        )
    }

    private static func first(
        of fields: FieldReader, in place: String
    ) -> (place: String, detail: String)? {
        guard let error = fields.faults.problem?.errors.first,
            case .pointer(let pointer) = error.place
        else { return nil }
        return (place + pointer.description.dropFirst(), error.detail)
    }
}

extension FieldReader {
    mutating func present(in bytes: Span<UInt8>) throws(Problem) -> [UInt8]? {
        let key = json.key
        let range = try skip(in: bytes)
        let present = bytes.extracting(range)
        if let fault = try PresentFields.fault(of: present, limits: limits) {
            if case .pointer(let pointer) = place(key) {
                faults.add(.pointer(pointer.appending(fault.place)), fault.detail)
            }
            return nil
        }
        var text: [UInt8] = []
        text.appendInOneLine(present)
        return text
    }
}

extension QueryReader {
    mutating func present(in bytes: Span<UInt8>) -> [UInt8]? {
        do throws(JSONError) {
            var scanner = JSONScanner(depthLimit: FieldReader.greatestDepth)
            _ = try scanner.skipValue(in: bytes)
            try scanner.finish(in: bytes)
        } catch {
            addFault(#"must be JSON, as in present={"title":"Deploy 4f2c?"}"#)
            return nil
        }
        if let fault = try? PresentFields.fault(of: bytes, limits: limits) {
            let within = fault.place.isEmpty ? "" : " at \(fault.place)"
            addFault(fault.detail + within)
            return nil
        }
        var text: [UInt8] = []
        text.appendInOneLine(bytes)
        return text
    }
}
