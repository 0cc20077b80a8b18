import BelfryClient
import BelfryJSON
import BelfrySystem

/// The `userInfo` of a notification of `bench`, written and read.
struct BenchPost: Equatable {
    let lane: Int
    let number: Int
    let postedAt: MonotonicTime

    /// Makes a userInfo with at least so many bytes.
    func userInfo(byteCount: Int) throws(ClientError) -> UserInfo {
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        writer.member("lane", integer: lane, into: &bytes)
        writer.member("number", integer: number, into: &bytes)
        writer.member("postedAt", integer: Int(postedAt.nanoseconds), into: &bytes)
        let rest = byteCount - bytes.count - #","rest":""}"#.utf8.count
        if rest > 0 {
            writer.member("rest", string: String(repeating: "x", count: rest), into: &bytes)
        }
        writer.endObject(into: &bytes)
        return try UserInfo(json: bytes)
    }

    init(lane: Int, number: Int, postedAt: MonotonicTime) {
        self.lane = lane
        self.number = number
        self.postedAt = postedAt
    }

    /// Reads one; nil when it is not one of these.
    init?(_ userInfo: UserInfo?) {
        guard let members = userInfo.flatMap({ JSONObject($0.json) }),
            let lane = members.integer("lane"), let number = members.integer("number"),
            let nanoseconds = members.integer("postedAt").flatMap({ Int64(exactly: $0) })
        else { return nil }
        self.init(lane: lane, number: number, postedAt: MonotonicTime(nanoseconds: nanoseconds))
    }
}
