import BelfryClient
import BelfryJSON
import Synchronization

/// What a token function of a case answers: one after the other, the last one again and again.
final class GivenTokens: Sendable {
    private let left: Mutex<[String?]>

    /// Takes a JSON array of texts, and of nulls where the function fails.
    init(_ json: [UInt8]) {
        var tokens: [String?] = []
        var reader = JSONReader()
        do throws(JSONError) {
            try reader.beginArray(in: json.span)
            while try reader.nextElement(in: json.span) {
                var element = JSONReader()
                let value = Array(json[try reader.skipValue(in: json.span)])
                tokens.append(
                    (try? element.readString(in: value.span)).map {
                        String(decoding: $0, as: UTF8.self)
                    })
            }
        } catch {
            preconditionFailure("no tokens: \(error)")
        }
        left = Mutex(tokens)
    }

    func next() throws -> String {
        let token = left.withLock { left in
            left.count > 1 ? left.removeFirst() : left.first ?? nil
        }
        guard let token else { throw Refusal("there is no token now") }
        return token
    }
}
