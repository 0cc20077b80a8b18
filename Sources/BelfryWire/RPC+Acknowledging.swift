import BelfryBytes
public import BelfryCenter
internal import BelfryJSON

// The requests that acknowledging observers and responders answer: their ids, and the errors that
// come back.
extension RPC {
    /// Appends an ask, a request whose response is the answer, or an action.
    ///
    /// An action is a request if its responder answers.
    public static func append(
        _ addressed: Addressed, _ notification: Notification, observer: UInt64, isRequest: Bool,
        isRedelivered: Bool, to output: inout [UInt8]
    ) {
        output.append(literal: #"{"jsonrpc":"2.0""#)
        var row: UInt64?
        if case .action(_, let found) = addressed.kind { row = found }
        if isRequest {
            output.append(literal: #","id":"#)
            appendDeliveryID(
                DeliveryName(observer: observer, sequence: notification.sequence, row: row),
                to: &output)
        }
        output.append(literal: #","method":"#)
        switch addressed.kind {
        case .ask: JSONWriter.append(string: notification.content.name, to: &output)
        case .action(let selector, _): JSONWriter.append(string: selector, to: &output)
        }
        output.append(literal: #","params":"#)
        Shape.append(
            notification, addressed, observer: isRequest ? observer : nil,
            isRedelivered: isRedelivered, isOneLine: false, namesMethod: false, to: &output)
        output.append(UInt8(ascii: "}"))
    }

    /// Appends the id of a delivery as JSON: `"o17:1842"`, or `"o17:1842:o21"` for an action.
    static func appendDeliveryID(_ delivery: DeliveryName, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        IdentifierText.append(observer: delivery.observer, to: &output)
        output.append(UInt8(ascii: ":"))
        JSONWriter.append(integer: delivery.sequence, to: &output)
        if let row = delivery.row {
            output.append(UInt8(ascii: ":"))
            IdentifierText.append(observer: row, to: &output)
        }
        output.append(UInt8(ascii: "\""))
    }

    /// Reads the id of a response, which is raw JSON; nil when it is none that was given.
    public static func delivery(ofID id: Span<UInt8>) -> DeliveryName? {
        guard id.count > 2, id[0] == UInt8(ascii: "\"") else { return nil }
        for index in id.indices where id[index] == UInt8(ascii: "\\") {
            // A client may write the same text with escapes.
            var json = JSONReader()
            guard let text = try? json.readString(in: id) else { return nil }
            return delivery(ofText: text.span)
        }
        return delivery(ofText: id.extracting(1..<id.count - 1))
    }

    private static func delivery(ofText text: Span<UInt8>) -> DeliveryName? {
        let colon = place(ofColonIn: text, from: 0)
        guard colon < text.count, let observer = number(text.extracting(0..<colon)) else {
            return nil
        }
        let end = place(ofColonIn: text, from: colon + 1)
        guard let sequence = Decimal.read(text.extracting(colon + 1..<end)) else { return nil }
        if end == text.count { return DeliveryName(observer: observer, sequence: sequence) }
        guard let row = number(text.extracting(end + 1..<text.count)) else { return nil }
        return DeliveryName(observer: observer, sequence: sequence, row: row)
    }

    private static func place(ofColonIn text: Span<UInt8>, from start: Int) -> Int {
        var place = start
        while place < text.count, text[place] != UInt8(ascii: ":") { place += 1 }
        return place
    }

    /// The number of an observer that is named without its secret.
    private static func number(_ text: Span<UInt8>) -> UInt64? {
        IdentifierText(observer: text).flatMap { $0.secret == nil ? $0.number : nil }
    }

    /// The most bytes of a refusal's error that are kept.
    static let refusalByteLimit = 1_024

    /// The error of a refusal, which is valid JSON, in at most 1 KiB.
    ///
    /// A longer one becomes an object with its code, and as much of its message as fits.
    public static func refusal(error json: Span<UInt8>) -> [UInt8] {
        var whole: [UInt8] = []
        if json.count <= refusalByteLimit {
            whole.append(json)
            return whole
        }
        var code = 0
        var message: [UInt8] = []
        // Faulty members do not matter: then the refusal says less.
        try? readError(json, code: &code, message: &message)
        return refusal(code: code, message: message)
    }

    /// An error that the broker puts in the place of an answer.
    static func refusal(code: RPCErrorCode, _ message: String) -> [UInt8] {
        refusal(code: code.rawValue, message: [UInt8](message.utf8))
    }

    /// Whether an error says that the method does not exist, so that another responder is asked.
    static func handsOn(error json: Span<UInt8>) -> Bool {
        var code = 0
        var message: [UInt8] = []
        try? readError(json, code: &code, message: &message)
        return code == RPCErrorCode.methodNotFound.rawValue
    }

    /// The reason that the data of a result has, in at most 1 KiB; other data has none.
    ///
    /// A longer one is cut: nobody could be told of the fault of an answer.
    static func reason(in message: Span<UInt8>, at start: Int) -> [UInt8]? {
        do throws(JSONError) {
            var json = JSONReader(depthLimit: FieldReader.greatestDepth, startingAt: start)
            guard try json.peekKind(in: message) == .object else { return nil }
            try json.beginObject(in: message)
            while try json.nextMember(in: message) {
                guard json.key.elementsEqual("reason".utf8),
                    try json.peekKind(in: message) == .string
                else {
                    _ = try json.skipValue(in: message)
                    continue
                }
                let text = try json.readString(in: message)
                let end = wholeCharacters(of: text, within: TextRule.reasonByteLimit)
                return text.isEmpty ? nil : Array(text.prefix(end))
            }
        } catch {
            return nil
        }
        return nil
    }

    /// How many bytes of a text have whole characters alone, within a limit.
    private static func wholeCharacters(of text: [UInt8], within limit: Int) -> Int {
        var end = min(text.count, limit)
        while end > 0, end < text.count, text[end] & 0xC0 == 0x80 { end -= 1 }
        return end
    }

    private enum ErrorKey: String, CaseIterable { case code, message }
    private static let errorKeys = JSONKeyTable(ErrorKey.allCases)

    private static func readError(
        _ bytes: Span<UInt8>, code: inout Int, message: inout [UInt8]
    ) throws(JSONError) {
        var json = JSONReader(depthLimit: FieldReader.greatestDepth)
        guard try json.peekKind(in: bytes) == .object else { return }
        try json.beginObject(in: bytes)
        while try json.nextMember(in: bytes) {
            switch (errorKeys.key(named: json.key), try json.peekKind(in: bytes)) {
            case (.code?, .number):
                let range = try json.skipValue(in: bytes)
                var number = JSONReader(startingAt: range.lowerBound)
                code = (try? number.readInt(in: bytes)) ?? 0
            case (.message?, .string):
                let range = try json.skipValue(in: bytes)
                var string = JSONReader(startingAt: range.lowerBound)
                message = (try? string.readString(in: bytes)) ?? []
            default: _ = try json.skipValue(in: bytes)
            }
        }
    }

    private static func refusal(code: Int, message: [UInt8]) -> [UInt8] {
        // An escape makes six bytes of one at most.
        var end = min(message.count, refusalByteLimit)
        while true {
            end = wholeCharacters(of: message, within: end)
            var writer = JSONWriter()
            var output: [UInt8] = []
            writer.beginObject(into: &output)
            writer.member("code", integer: code, into: &output)
            writer.member("message", string: [UInt8](message.prefix(end)), into: &output)
            writer.endObject(into: &output)
            if output.count <= refusalByteLimit { return output }
            end -= max(1, (output.count - refusalByteLimit) / 6)
        }
    }
}
