import BelfryCenter
import BelfryJSON
import BelfryWire

/// JSON, and what is read out of it.
enum JSONChecks {
    private static let depthLimit = 20

    /// The validator and the reader must agree, and lines must be cut where line feeds are.
    static func values(_ bytes: [UInt8]) -> String? {
        var kind: JSONKind?
        do throws(JSONError) {
            kind = try JSONScanner.validate(bytes.span, depthLimit: depthLimit)
        } catch {}
        var reader = JSONReader(depthLimit: depthLimit)
        var isRead = false
        do throws(JSONError) {
            try readValue(&reader, bytes.span, depth: 1)
            try reader.finish(in: bytes.span)
            isRead = true
        } catch {}
        // The reader may refuse more: text that cannot be decoded, numbers that do not fit.
        if isRead, kind == nil { return "the reader takes what the validator refuses" }

        var lines = JSONLines()
        var end = 0
        while let line = lines.next(in: bytes.span) {
            if line.lowerBound < end || line.upperBound > bytes.count { return "lines overlap" }
            if bytes[line].contains(UInt8(ascii: "\n")) { return "a line with a line feed" }
            end = line.upperBound
        }
        return nil
    }

    /// Reads a value with all that is in it; how deep it goes is for the caller of a reader to say.
    private static func readValue(
        _ reader: inout JSONReader, _ bytes: Span<UInt8>, depth: Int
    ) throws(JSONError) {
        guard depth <= depthLimit else { throw .depthLimit(limit: depthLimit, at: reader.index) }
        switch try reader.peekKind(in: bytes) {
        case .object:
            try reader.beginObject(in: bytes)
            while try reader.nextMember(in: bytes) {
                try readValue(&reader, bytes, depth: depth + 1)
            }
        case .array:
            try reader.beginArray(in: bytes)
            while try reader.nextElement(in: bytes) {
                try readValue(&reader, bytes, depth: depth + 1)
            }
        case .string: _ = try reader.readString(in: bytes)
        case .number: _ = try reader.readDouble(in: bytes)
        case .boolean: _ = try reader.readBool(in: bytes)
        case .null: _ = try reader.readNullIfPresent(in: bytes)
        }
    }

    /// Everything that takes a body; a refusal must be one that can be answered.
    static func calls(_ bytes: [UInt8]) -> String? {
        let message = RPCReader().message(in: bytes.span)
        if !message.isBatch, message.calls.count > 1 { return "several calls and no batch" }
        let reader = RequestReader()
        let statuses = [
            status { () throws(Problem) in _ = try reader.notifications(in: bytes.span) },
            status { () throws(Problem) in _ = try reader.notificationLines(in: bytes.span) },
            status { () throws(Problem) in
                _ = try reader.observer(in: bytes.span, allowsSession: true)
            },
            status { () throws(Problem) in _ = try reader.suspension(in: bytes.span) },
            status { () throws(Problem) in _ = try reader.mode(in: bytes.span) },
        ]
        let odd = statuses.first { $0 != 200 && !(400..<500).contains($0) }
        return odd.map { "status \($0)" }
    }

    /// Checks the default of an ask, any JSON: a query and a call take the same, and return it.
    static func fallback(_ bytes: [UInt8]) -> String? {
        let reader = RequestReader()
        let (name, nothing) = (Array("x".utf8), [UInt8]())
        let message = Array(#"{"object":"x","selector":"x","default":"#.utf8) + bytes + [0x7D]
        let (queried, status) = ask { () throws(Problem) in
            try reader.ask(
                object: name, selector: name,
                query: [QueryParameter(name: Array("default".utf8), value: bytes)],
                content: nothing.span)
        }
        let (called, _) = ask { () throws(Problem) in
            try reader.ask(params: 0..<message.count, in: message.span)
        }
        guard let queried else {
            return (400..<500).contains(status) ? nil : "status \(status)"
        }
        guard let fallback = queried.fallback, isJSON(fallback, depthLimit: 64) else {
            return "a default that is no JSON"
        }
        let isBlank: (UInt8) -> Bool = { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        let text = bytes.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        if !fallback.elementsEqual(text) { return "a default that is not what came" }
        if called?.fallback != fallback { return "a call takes another default than a query" }
        var answer: [UInt8] = []
        let id = NotificationID(high: 1, low: 1)
        Shape.append(
            ask: AskOutcome(id: id, state: .fallback(fallback, .noAnswer), path: [name]),
            to: &answer)
        if !isJSON(answer, depthLimit: 65) { return "an answer that is no JSON" }
        return nil
    }

    private static func isJSON(_ bytes: [UInt8], depthLimit: Int) -> Bool {
        do throws(JSONError) {
            _ = try JSONScanner.validate(bytes.span, depthLimit: depthLimit)
            return true
        } catch {
            return false
        }
    }

    /// The ask, or the status of the refusal.
    private static func ask(
        _ read: () throws(Problem) -> AskRequest
    ) -> (request: AskRequest?, status: Int) {
        do throws(Problem) {
            return (try read(), 200)
        } catch {
            return (nil, error.kind.status)
        }
    }

    private static func status(_ read: () throws(Problem) -> Void) -> Int {
        do throws(Problem) {
            try read()
            return 200
        } catch {
            return error.kind.status
        }
    }
}
