import BelfryHTTP
import BelfrySystem

/// The Date field and the heads of the usual answers, made once a second.
struct AnswerHeads {
    private var second: Int64 = -1
    /// The value of the Date field.
    private(set) var date: [UInt8]
    /// The head of the usual answer.
    private(set) var json: PreparedJSONHead
    /// The head of the answer to a post that waits.
    private(set) var accepted: PreparedJSONHead

    init() {
        let date = HTTPDate.bytes(secondsSince1970: 0)
        json = PreparedJSONHead(status: 200, date: date.span)
        accepted = PreparedJSONHead(status: 202, date: date.span)
        self.date = date
    }

    /// Makes all of them again when a second has passed.
    mutating func renew(at time: WallTime) {
        let second = time.milliseconds / 1_000
        if self.second == second { return }
        self.second = second
        date = HTTPDate.bytes(secondsSince1970: Int(second))
        json = PreparedJSONHead(status: 200, date: date.span)
        accepted = PreparedJSONHead(status: 202, date: date.span)
    }
}
