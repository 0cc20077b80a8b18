import BelfryClient
import BelfryJSON
import Synchronization

/// The tokens of a case's token function: one after the other, and the last one repeatedly.
final class GivenTokens: Sendable {
    private let left: Mutex<[String?]>

    /// Takes them from the member `function`: a text is a token, and with null the function fails.
    init(_ token: JSONObject) {
        left = Mutex(
            token.elements("function").map { element in
                var reader = JSONReader()
                return (try? reader.readString(in: element.span)).map {
                    String(decoding: $0, as: UTF8.self)
                }
            })
    }

    @Sendable func next() throws -> String {
        let token = left.withLock { left in
            left.count > 1 ? left.removeFirst() : left.first ?? nil
        }
        guard let token else { throw Refusal("this case gives the function no token now") }
        return token
    }
}
