import BelfryCenter
import BelfryHistory
import BelfryJSON

// The judgement of values from outside: from its frames alone each observer of a live client has
// the value.
extension ValueWorld {
    private func isLive(_ client: UInt64) -> Bool {
        guard let client = clients[client] else { return false }
        return client.connection != nil && !client.isAsked
    }

    // MARK: Frames

    /// Takes a frame: its observer must look there, and it must have the change.
    func take(_ delivery: Delivery) throws(Violation) {
        guard let observer = observers[delivery.observer] else {
            throw Violation("o\(delivery.observer) gets a frame, and is not there")
        }
        let notification = effects.notifications[Int(delivery.notification)]
        guard delivery.form == .change,
            effects.keyPaths[delivery.notification] == observer.terms.pathText
        else { throw Violation("rule V4: a frame of another place") }
        let seen = clients[observer.client]?.seen ?? 0
        clients[observer.client]?.seen = max(seen, notification.sequence)
        let text = String(decoding: notification.content.userInfoBytes ?? [], as: UTF8.self)
        let name = Self.name(of: observer, delivery.observer)
        tell("\(name) gets @\(notification.sequence) \(text)")
        let change = Told(try document(text, isPatch: true))
        if observer.isGivenUp { return }
        observers[delivery.observer]?.seenThrough = notification.sequence
        if change.isMerge, !observer.isKnown { return }
        let after =
            change.isMerge
            ? change.new.flatMap { PlainValue.merged(observer.value, with: $0) } : change.new
        if change.isInitial {
            try judgePresent(after, of: delivery.observer, at: notification.sequence)
        } else if observer.isKnown {
            try judgeChange(change, notification.sequence, to: after, of: observer, name)
        }
        observers[delivery.observer]?.value = after
        observers[delivery.observer]?.isKnown =
            observer.lostThrough.map { notification.sequence > $0 } ?? true
    }

    /// The content of a frame.
    private struct Told {
        let isMerge: Bool
        let isInitial: Bool
        let new: PlainValue?
        let old: PlainValue?

        init(_ change: Document) {
            func member(_ name: String) -> Document? { change.member([UInt8](name.utf8)) }
            isMerge = member("kind")?.bytes == [UInt8](#""merge""#.utf8)
            isInitial = member("initial") != nil
            new = member("new").map { PlainValue($0) }
            old = member("old").map { PlainValue($0) }
        }
    }

    /// Judges a present value: it is the one at its place in the order, or the current one.
    ///
    /// After the current one no change comes that it has already.
    private func judgePresent(
        _ value: PlainValue?, of serial: UInt64, at sequence: UInt64
    ) throws(Violation) {
        guard let observer = observers[serial] else { return }
        let keys = observer.terms.path.keys[...]
        observers[serial]?.hasThrough = sequence
        // Only the last state of values that end at one time is known here.
        guard !hasEnds, let state = history.last(where: { $0.sequence <= sequence }),
            value != state.values[observer.object]?.value(at: keys)
        else { return }
        observers[serial]?.hasThrough = center.sequence
        guard value == values[observer.object]?.value(at: keys) else {
            throw Violation(
                """
                rule V8: the present value @\(sequence) of \(Self.name(of: observer, serial)) is \
                \(Self.text(of: value)), which there was never at its place, and is not now
                """)
        }
    }

    private func judgeChange(
        _ change: Told, _ sequence: UInt64, to after: PlainValue?, of observer: Observer,
        _ name: String
    ) throws(Violation) {
        guard sequence > observer.hasThrough else {
            throw Violation(
                "rule V8: \(name) is told the change @\(sequence) behind a present value that has it"
            )
        }
        guard after != observer.value else {
            throw Violation("rule V2: \(name) is told a change, and has that value")
        }
        guard observer.terms.sendsOld else { return }
        let undone =
            change.isMerge ? change.old.flatMap { PlainValue.merged(after, with: $0) } : change.old
        guard undone == observer.value else {
            throw Violation(
                """
                rule V5: old of \(name) does not undo its frame: that makes \(Self.text(of: undone)) of it, and \
                there was \(Self.text(of: observer.value))
                """)
        }
    }

    // MARK: Values

    /// The event before a judgement.
    enum Event {
        case command
        case time
        case restart
    }

    /// The center has what was written, and so has each observer of a live client by its frames.
    func judge(after event: Event = .command) throws(Violation) {
        for object in [[UInt8]("x".utf8), [UInt8]("y".utf8)] {
            try judge(center.value(of: object, at: .whole), of: object, after: event)
        }
        for (serial, observer) in observers.sorted(by: { $0.key < $1.key })
        where isLive(observer.client) && !observer.isGivenUp {
            let wanted = values[observer.object]?.value(at: observer.terms.path.keys[...])
            let name = Self.name(of: observer, serial)
            guard observer.isKnown || observer.behavior == .drop else {
                throw Violation("rule V6: \(name) was never told the value")
            }
            if observer.isKnown, observer.value != wanted {
                throw Violation(
                    """
                    rules V8 to V10: \(name) was not told the last of it: it has \
                    \(Self.text(of: observer.value)), and there is \(Self.text(of: wanted))
                    """)
            }
        }
    }

    private func judge(
        _ found: PresentValue?, of object: [UInt8], after event: Event
    ) throws(Violation) {
        let value = found.map { PlainValue($0.value) }
        if value != values[object] {
            let name = String(decoding: object, as: UTF8.self)
            let what =
                switch event {
                case .command: "rule V1: \(name) is not what was written"
                case .time: end(of: object, value)
                case .restart: "rule V15: \(name) is not what was stored"
                }
            throw Violation(
                "\(what): it is \(Self.text(of: value)), and not \(Self.text(of: values[object]))")
        }
        guard let found else { return }
        if tags.count > 500 { tags = [:] }
        let known = tags.updateValue(found.tag, forKey: found.value.bytes)
        if let known, known != found.tag {
            throw Violation("rule V14: equal values have two tags")
        }
    }

    /// The values of an object that ended too early, or have not ended.
    private func end(of object: [UInt8], _ value: PlainValue?) -> String {
        let early = ends.first { entry in
            let keys = entry.path.keys[...]
            return entry.object == object && value?.value(at: keys) == nil
                && values[object]?.value(at: keys) != nil
        }
        let name = String(decoding: object, as: UTF8.self)
        guard let early else { return "rules V16 and V17: something of \(name) has not ended" }
        let place = "\(name)/\(String(decoding: early.path.text, as: UTF8.self))"
        guard early.client != nil else { return "rule V16: \(place) ended before its ttl was over" }
        return early.end == nil
            ? "rule V17: \(place) ended, and its client is there"
            : "rule V17: \(place) ended before its lease was over"
    }

    // MARK: Texts

    /// Writes are told in short.
    static func text(of action: Command.Action) -> String {
        func place(_ write: ValueWrite) -> String {
            String(decoding: write.object + [0x2F] + write.path.text, as: UTF8.self)
        }
        func text(_ document: Document) -> String {
            String(decoding: document.bytes, as: UTF8.self)
        }
        switch action {
        case .setValue(let write, let value, let lifetime):
            let ends = lifetime.isLimited ? " \(lifetime)" : ""
            return "set \(place(write)) \(text(value))\(ends)"
        case .mergeValue(let write, let patch): return "merge \(place(write)) \(text(patch))"
        case .removeValue(let write): return "remove \(place(write))"
        default: return Show.action(action)
        }
    }

    private static func name(of observer: Observer, _ serial: UInt64) -> String {
        let place = observer.object + [0x2F] + observer.terms.pathText
        return "o\(serial) (\(observer.behavior) \(String(decoding: place, as: UTF8.self)))"
    }

    private static func text(of value: PlainValue?) -> String {
        switch value {
        case nil: "nothing"
        case .leaf(let bytes): String(decoding: bytes, as: UTF8.self)
        case .object(let members):
            "{"
                + members.map { "\(String(decoding: $0.key, as: UTF8.self)):\(text(of: $0.value))" }
                .sorted().joined(separator: ",") + "}"
        }
    }
}
