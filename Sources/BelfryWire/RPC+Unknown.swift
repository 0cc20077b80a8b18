internal import BelfryJSON

extension RPC {
    /// Appends the answers of a message once more, with a problem in the place of each result.
    ///
    /// - Parameter answers: one answer, or the array of those to a batch, as this type has written
    ///   them.
    public static func append(
        _ problem: Problem, insteadOfResultsIn answers: Span<UInt8>, to output: inout [UInt8]
    ) {
        let start = output.count
        var reader = JSONReader(depthLimit: answerDepthLimit)
        do throws(JSONError) {
            guard try reader.peekKind(in: answers) == .array else {
                return try append(problem, insteadOf: &reader, in: answers, to: &output)
            }
            try reader.beginArray(in: answers)
            var separator = UInt8(ascii: "[")
            while try reader.nextElement(in: answers) {
                output.append(separator)
                separator = UInt8(ascii: ",")
                try append(problem, insteadOf: &reader, in: answers, to: &output)
            }
            output.append(UInt8(ascii: "]"))
        } catch {
            // The problem is true in any case, and an error without an id answers no other request.
            output.removeSubrange(start...)
            append(problem: problem, id: Array("null".utf8), to: &output)
        }
    }

    /// The levels of an answer: a result may hold userInfo of as many levels as may be, and its
    /// own.
    private static let answerDepthLimit = 256

    /// Appends the next answer if it is an error, else the problem with its id.
    private static func append(
        _ problem: Problem, insteadOf reader: inout JSONReader, in answers: Span<UInt8>,
        to output: inout [UInt8]
    ) throws(JSONError) {
        let range = try reader.skipValue(in: answers)
        var answer = JSONReader(depthLimit: answerDepthLimit, startingAt: range.lowerBound)
        var id: Range<Int>?
        var isResult = false
        try answer.beginObject(in: answers)
        while try answer.nextMember(in: answers) {
            let value = try answer.skipValue(in: answers)
            if answer.key == Array("id".utf8) { id = value }
            if answer.key == Array("result".utf8) { isResult = true }
        }
        guard isResult, let id else {
            for index in range { output.append(answers[index]) }
            return
        }
        append(problem: problem, id: id.map { answers[$0] }, to: &output)
    }
}
