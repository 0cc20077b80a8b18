import BelfryJSON

@testable import BelfryCenter

/// The verbs of the cases of values: PUT, PATCH, DELETE and OBS.
///
/// Changes are written as short texts: `o1 ui.theme {"kind":"set","new":1} @7`.
extension Scenario {
    /// The terms of a write besides its place and its value.
    struct Writing {
        var client: UInt64?
        /// In milliseconds.
        var ttl: Int64?
        var lease: Int64?
        var condition = ValueCondition()
        var byteRoom = Int.max
        var canStore = true
        var owner = Owner.none
    }

    private mutating func write(
        _ object: String, _ path: String, _ writing: Writing
    ) -> ValueWrite {
        let id = newPost("w").id
        var write = ValueWrite(id: id, object: bytes(object), path: keyPath(path))
        write.client = writing.client
        write.condition = writing.condition
        write.byteRoom = writing.byteRoom
        write.canStore = writing.canStore
        write.owner = writing.owner
        return write
    }

    /// Puts a value, and tells what that did.
    @discardableResult
    mutating func put(
        _ object: String, _ path: String, _ value: String,
        _ change: (inout Writing) -> Void = { _ in }
    ) -> String {
        var writing = Writing()
        change(&writing)
        let lifetime = ValueLifetime(
            timeToLive: writing.ttl.map { $0 * 1_000_000 },
            lease: writing.lease.map { $0 * 1_000_000 })
        apply(.setValue(write(object, path, writing), document(value), lifetime))
        return written
    }

    /// Applies a merge patch.
    @discardableResult
    mutating func patch(
        _ object: String, _ path: String, _ patch: String,
        _ change: (inout Writing) -> Void = { _ in }
    ) -> String {
        var writing = Writing()
        change(&writing)
        apply(.mergeValue(write(object, path, writing), patch: document(patch, isPatch: true)))
        return written
    }

    /// Takes a value away.
    @discardableResult
    mutating func delete(
        _ object: String, _ path: String, _ change: (inout Writing) -> Void = { _ in }
    ) -> String {
        var writing = Writing()
        change(&writing)
        apply(.removeValue(write(object, path, writing)))
        return written
    }

    /// The canonical text of a value, or `none`.
    func value(_ object: String, _ path: String = "") -> String {
        guard let found = center.value(of: bytes(object), at: keyPath(path)) else { return "none" }
        return String(decoding: found.value.bytes, as: UTF8.self)
    }

    func tag(_ object: String, _ path: String = "") -> ValueTag? {
        center.value(of: bytes(object), at: keyPath(path))?.tag
    }

    /// The terms of an observer of a value besides its place.
    struct Observing {
        var behavior = SuspensionBehavior.coalesce
        var old = false
        var own = true
        var initial = false
        var holdLimit = 1_000
        /// In milliseconds.
        var minInterval: Int64 = 0
        var selector = "notify"
        var endsWithConnection = false
    }

    /// A registration of an observer of a value with the next serial number.
    mutating func observer(
        of object: String, _ path: String, _ change: (inout Observing) -> Void = { _ in }
    ) -> ObserverRegistration {
        var observing = Observing()
        change(&observing)
        var terms = ObserverTerms()
        terms.suspensionBehavior = observing.behavior
        terms.holdLimit = observing.holdLimit
        terms.minInterval = observing.minInterval * 1_000_000
        terms.endsWithConnection = observing.endsWithConnection
        var role = ValueTerms(path: keyPath(path))
        role.sendsOld = observing.old
        role.sendsOwn = observing.own
        role.sendsInitial = observing.initial
        let plain = registration(nil, object, terms, selector: observing.selector)
        return ObserverRegistration(
            serial: plain.serial, tokenHash: plain.tokenHash, name: nil, object: plain.object,
            selector: plain.selector, terms: terms, role: .value(role))
    }

    /// Registers an observer of a value, whose frames follow with the next drain.
    @discardableResult
    mutating func look(
        _ object: String, _ path: String, by client: UInt64,
        _ change: (inout Observing) -> Void = { _ in }
    ) -> UInt64 {
        let registration = observer(of: object, path, change)
        apply(.addObserver(registration, client: client, since: nil))
        return registration.serial
    }

    /// Makes a mailbox that observes a value, and tells its observer.
    mutating func lookingMailbox(
        _ object: String, _ path: String, _ change: (inout Observing) -> Void = { _ in }
    ) -> UInt64 {
        let registration = observer(of: object, path, change)
        _ = connect([registration], transport: .mailbox)
        return registration.serial
    }

    /// The changes that the last command has written; `*` marks redelivered ones.
    var seen: [String] {
        effects.deliveries.filter { $0.form == .change }.map { delivery in
            let notification = effects.notifications[Int(delivery.notification)]
            let path = effects.keyPaths[delivery.notification] ?? bytes("?")
            return "o\(delivery.observer) " + text(of: notification, path)
                + (delivery.isRedelivered ? "*" : "")
        }
    }

    /// The content of the mailbox of an observer.
    func mail(_ observer: UInt64, after: UInt64 = 0) -> [String] {
        let page = center.mailbox(of: observer, after: after, limit: 100)
        return page?.elements.map { text(of: $0.notification, $0.keyPath ?? bytes("?")) } ?? []
    }

    private func text(of notification: Notification, _ path: [UInt8]) -> String {
        let change = notification.content.userInfoBytes ?? []
        return String(decoding: path, as: UTF8.self) + " "
            + String(decoding: change, as: UTF8.self) + " @\(notification.sequence)"
    }

    /// The result of the last write: `created`, `changed`, `same`, or its refusal.
    private var written: String {
        switch effects.outcome {
        case .written(let written):
            written.isChanged ? (written.isCreated ? "created" : "changed") : "same"
        case .refused(let refusal): "\(refusal)"
        default: "\(effects.outcome)"
        }
    }

    func document(_ text: String, isPatch: Bool = false) -> Document {
        let text = bytes(text)
        let document =
            isPatch ? try? Document.parsePatch(text.span) : try? Document.parse(text.span)
        guard let document else { preconditionFailure("\(text) is no document") }
        return document
    }

    func keyPath(_ text: String) -> DocumentPath {
        guard let path = try? DocumentPath.parse(bytes(text).span) else {
            preconditionFailure("\(text) is no key path")
        }
        return path
    }
}
