internal import BelfryJSON
internal import BelfrySystem

/// The values with a lease, and the posts for the disconnection, that this client has at a broker.
///
/// Another client has none of them, and the lease of a value may end before the session does: so
/// each new connection makes those again that may be missing.
struct LastingWrites {
    /// A call that makes something again, and what it is for.
    struct Request {
        let purpose: Purpose
        let method: String
        let params: [UInt8]
    }

    /// The purpose of such a call.
    enum Purpose: Sendable {
        /// Sets the value with this number; at first where it is as it was, then where it is gone.
        case value(ValueWrite.Place, number: Int, isSecond: Bool)
        /// Posts what the program knows by this id.
        case post(id: String)
        /// Takes out what may wait still.
        case dequeue
    }

    private struct Value {
        /// The number that no other write of this client has.
        let number: Int
        var document: Document
        let lease: Duration
        /// The end of its time to live.
        let end: MonotonicTime
        /// The tag of what this client wrote; nil where it is not known.
        var etag: String?
    }

    private struct Post {
        /// The id that the program knows.
        let id: String
        var currentID: String
        let wish: PostWish
    }

    /// The most values, as a broker has it; more are not made again.
    private static let valueLimit = 1_000

    private var values: [ValueWrite.Place: Value] = [:]
    private var posts: [Post] = []
    private var lastNumber = 0

    // MARK: Writes that were made

    /// The write that a call makes, if it has a lease or may concern a value that has.
    func write(method: String, params: [UInt8]) -> ValueWrite? {
        guard let write = ValueWrite(method: method, params: params) else { return nil }
        return values.isEmpty && write.lease == nil ? nil : write
    }

    /// A write has happened.
    mutating func note(_ write: ValueWrite, etag: String?, at now: MonotonicTime) {
        for place in Array(values.keys) where write.endsLease(at: place) { values[place] = nil }
        for place in Array(values.keys) {
            guard var value = values[place], write.apply(to: &value.document, at: place) else {
                continue
            }
            value.etag = nil
            values[place] = value
        }
        guard let lease = write.lease, let document = write.document,
            values.count < Self.valueLimit
        else { return }
        lastNumber += 1
        values[write.place] = Value(
            number: lastNumber, document: document, lease: lease,
            end: write.ttl.map { now + $0 } ?? .distantFuture, etag: etag)
    }

    /// A post for the disconnection was made; the broker bounds how many there are.
    mutating func note(_ wish: PostWish, id: String) {
        var wish = wish
        wish.options.idempotencyKey = nil
        posts.append(Post(id: id, currentID: id, wish: wish))
    }

    /// Forgets posts that a call takes out of the queue; returns its params with the present id.
    mutating func dequeue(_ params: [UInt8]) -> [UInt8] {
        guard !posts.isEmpty, let call = JSONObject(params) else { return params }
        guard let id = call.string("id") else {
            let (name, object) = (call.string("name")?.utf8, call.string("object")?.utf8)
            posts.removeAll { post in
                name.map { $0.elementsEqual(post.wish.name.utf8) } != false
                    && object.map { $0.elementsEqual((post.wish.object ?? "").utf8) } != false
            }
            return params
        }
        guard let place = posts.firstIndex(where: { $0.id == id }) else { return params }
        return Self.dequeuing(posts.remove(at: place).currentID).params
    }

    // MARK: Making again

    /// The calls that make everything again.
    ///
    /// - Parameter away: how long a session that goes on had no connection; nil for a new client.
    mutating func requests(away: Duration?, at now: MonotonicTime) -> [Request] {
        values = values.filter { $0.value.end > now }
        let sets = values.sorted { $0.value.number < $1.value.number }.map { place, value in
            setting(value, at: place, isSecond: false, now)
        }
        // The posts of a session that goes on are there still, unless their delay was over.
        let due = posts.filter { post in
            away.map { $0 >= post.wish.options.after ?? .zero } ?? true
        }
        return sets
            + due.flatMap { post in
                (away == nil ? [] : [Self.dequeuing(post.currentID)])
                    + [
                        Request(
                            purpose: .post(id: post.id), method: "post",
                            params: RPCRequest.params(post.wish.write))
                    ]
            }
    }

    /// A call was answered; returns one that takes out what the program does not want any more.
    mutating func confirm(_ purpose: Purpose, _ answer: [UInt8]) -> Request? {
        let members = JSONObject(answer)
        switch purpose {
        case .value(let place, let number, _):
            if values[place]?.number == number { values[place]?.etag = members?.string("etag") }
        case .post(let id):
            guard let newID = members?.string("id") else { return nil }
            guard let place = posts.firstIndex(where: { $0.id == id }) else {
                return Self.dequeuing(newID)
            }
            posts[place].currentID = newID
        case .dequeue: break
        }
        return nil
    }

    /// A call was refused; returns another one that may do better.
    ///
    /// A write that cannot be made again is forgotten, unless the broker has too much to do.
    mutating func refuse(
        _ purpose: Purpose, _ refusal: BrokerRefusal, at now: MonotonicTime
    ) -> Request? {
        if ClientError.refused(refusal).isWorthRetrying { return nil }
        switch purpose {
        case .value(let place, let number, let isSecond):
            guard let value = values[place], value.number == number else { return nil }
            if refusal.status == 412, !isSecond {
                return setting(value, at: place, isSecond: true, now)
            }
            // Another client has set it meanwhile, or may forbid it.
            values[place] = nil
        case .post(let id): posts.removeAll { $0.id == id }
        case .dequeue: break
        }
        return nil
    }

    private func setting(
        _ value: Value, at place: ValueWrite.Place, isSecond: Bool, _ now: MonotonicTime
    ) -> Request {
        let params = RPCRequest.params { writer, bytes in
            writer.member(
                "object", string: String(decoding: place.object, as: UTF8.self), into: &bytes)
            if !place.path.isWhole {
                writer.member(
                    "keyPath", string: String(decoding: place.path.text, as: UTF8.self),
                    into: &bytes)
            }
            writer.member("value", raw: value.document.bytes, into: &bytes)
            writer.member("lease", seconds: value.lease, into: &bytes)
            if value.end < .distantFuture {
                writer.member("ttl", seconds: value.end - now, into: &bytes)
            }
            if isSecond {
                writer.member("ifNoneMatch", string: "*", into: &bytes)
            } else if let etag = value.etag {
                writer.member("ifMatch", string: etag, into: &bytes)
            }
        }
        return Request(
            purpose: .value(place, number: value.number, isSecond: isSecond), method: "setValue",
            params: params)
    }

    private static func dequeuing(_ id: String) -> Request {
        let params = RPCRequest.params { writer, bytes in
            writer.member("id", string: id, into: &bytes)
        }
        return Request(purpose: .dequeue, method: "dequeue", params: params)
    }
}
