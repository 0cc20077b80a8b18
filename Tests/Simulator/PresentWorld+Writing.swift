import BelfryCenter
import BelfryHistory
import BelfryJSON

// Posts, and writes of values.
extension PresentWorld {
    func post() throws(Violation) {
        let content = Notification.Content(
            name: PresentTruth.name, userInfo: [UInt8]("{\"n\":\(lastNumber)}"))
        let sequence = center.sequence + 1
        truth.posts.insert(sequence)
        for id in clients.keys where clients[id]?.listener != nil {
            clients[id]?.owed.insert(sequence)
            let isHeld = clients[id]?.connection == nil || clients[id]?.isAsked == true
            if isHeld { clients[id]?.held.insert(sequence) }
        }
        try submit(.post(Post(id: newID(), content: content), PostTerms()))
    }

    func write() throws(Violation) {
        let place = somePlace
        if dice.oneIn(5) { return try write(whole: place.object) }
        let write = ValueWrite(
            id: newID(), object: place.object, path: try Self.path(place.key))
        if dice.oneIn(4) {
            truth.put(nil, at: place, number: center.sequence + 1)
            try submit(.removeValue(write))
            return
        }
        let value = dice.below(3)
        let text = [UInt8]("\(value)".utf8)
        guard let document = try? Document.parse(text.span) else { return }
        let lifetime: Int64? = dice.oneIn(4) ? Int64(dice.number(in: 1...4_000)) : nil
        truth.put(value, at: place, number: center.sequence + 1)
        truth.ends[place] = lifetime.map { now + $0 * 1_000_000 }
        try submit(
            .setValue(
                write, document, ValueLifetime(timeToLive: lifetime.map { $0 * 1_000_000 })))
    }

    /// One write for all places of an object: one change, and a frame for each path that it has
    /// changed.
    private func write(whole object: [UInt8]) throws(Violation) {
        var members: [String] = []
        for place in PresentTruth.places where place.object == object {
            let value = dice.oneIn(4) ? nil : dice.below(3)
            if let value { members.append("\"\(place.key.shown)\":\(value)") }
            truth.put(value, at: place, number: center.sequence + 1)
        }
        let text = [UInt8]("{\(members.joined(separator: ","))}".utf8)
        guard let document = try? Document.parse(text.span) else { return }
        let write = ValueWrite(id: newID(), object: object, path: .whole)
        try submit(.setValue(write, document, ValueLifetime()))
    }
}
